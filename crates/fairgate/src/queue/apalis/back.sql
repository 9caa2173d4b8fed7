convert_from(r.job, 'UTF8')::json AS payload, -coalesce(r.priority, 0) AS priority, r.run_at, {attempts} AS attempts, r.max_attempts,
    coalesce(r.last_result ->> 'Err', r.last_result::text) AS error
