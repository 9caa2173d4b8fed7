UPDATE fairgate.queue SET ready = false, not_ready_reason = $2 WHERE name = $1 AND (ready OR not_ready_reason IS DISTINCT FROM $2)
