-- Every row that an admission may touch, in one snapshot.
SELECT concat_ws(E'\n',
    (SELECT json_agg(x ORDER BY x.job_id) FROM fairgate.staged x),
    (SELECT json_agg(x ORDER BY x.id) FROM fairgate.partition x),
    (SELECT json_agg(x ORDER BY x.id) FROM fairgate.partition_state x),
    (SELECT json_agg(x ORDER BY x::text) FROM fairgate.delta x),
    (SELECT json_agg(x ORDER BY x.admission_id) FROM fairgate.in_flight x),
    (SELECT json_agg(x ORDER BY x.job_id) FROM fairgate.quarantined x),
    (SELECT json_agg(x ORDER BY x.id) FROM fairgate.tick_sample x),
    (SELECT json_agg(x ORDER BY x.id) FROM graphile_worker._private_jobs x),
    (SELECT json_agg(x ORDER BY x.id) FROM graphile_worker._private_tasks x))
