SELECT q.name, q.ready, coalesce(q.not_ready_reason, '') FROM fairgate.policy p JOIN fairgate.queue q ON q.id = p.queue_id WHERE p.id = $1
