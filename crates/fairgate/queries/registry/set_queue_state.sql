UPDATE fairgate.queue SET ready = $2 IS NULL, not_ready_reason = $2, hooks_digest = $3 WHERE id = $1
