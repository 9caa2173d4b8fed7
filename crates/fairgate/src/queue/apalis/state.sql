CASE WHEN r.status IN ('Queued', 'Running') THEN 'running' WHEN r.status = 'Done' THEN 'succeeded'
    WHEN r.status = 'Killed' OR (r.status = 'Failed' AND r.attempts >= r.max_attempts) THEN 'dead' ELSE 'waiting' END
