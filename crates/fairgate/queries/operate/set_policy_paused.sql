UPDATE fairgate.policy SET paused = $2 WHERE id = $1 AND paused <> $2
