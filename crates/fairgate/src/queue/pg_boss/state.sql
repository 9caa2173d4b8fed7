CASE r.state::text WHEN 'active' THEN 'running' WHEN 'completed' THEN 'succeeded' WHEN 'failed' THEN 'dead' WHEN 'cancelled' THEN 'removed' ELSE 'waiting' END
