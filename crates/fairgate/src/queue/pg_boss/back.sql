coalesce(r.data, 'null')::json AS payload, -r.priority AS priority, r.start_after AS run_at, {attempts} AS attempts, r.retry_limit + 1 AS max_attempts,
    coalesce(r.output ->> 'message', r.output #>> '{value,message}', r.output::text) AS error
