UPDATE fairgate.engine SET enabled = $1 WHERE enabled <> $1
