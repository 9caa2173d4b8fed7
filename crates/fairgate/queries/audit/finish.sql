UPDATE fairgate.audit SET done_at = clock_timestamp(), succeeded = $2, outcome = $3 WHERE id = $1 AND done_at IS NULL
