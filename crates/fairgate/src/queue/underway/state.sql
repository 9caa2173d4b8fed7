CASE r.state::text WHEN 'in_progress' THEN 'running' WHEN 'succeeded' THEN 'succeeded' WHEN 'failed' THEN 'dead' WHEN 'cancelled' THEN 'removed' ELSE 'waiting' END
