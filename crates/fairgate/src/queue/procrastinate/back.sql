r.args::json AS payload, -r.priority AS priority, coalesce(r.scheduled_at, now()) AS run_at, {attempts} AS attempts, NULL::int AS max_attempts, NULL::text AS error
