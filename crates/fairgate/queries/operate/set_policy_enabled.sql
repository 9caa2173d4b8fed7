UPDATE fairgate.policy SET enabled = $2 WHERE id = $1 AND enabled <> $2
