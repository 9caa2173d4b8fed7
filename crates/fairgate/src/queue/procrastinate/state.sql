CASE r.status::text WHEN 'doing' THEN 'running' WHEN 'aborting' THEN 'running' WHEN 'succeeded' THEN 'succeeded' WHEN 'failed' THEN 'dead'
    WHEN 'cancelled' THEN 'removed' WHEN 'aborted' THEN 'removed' ELSE 'waiting' END
