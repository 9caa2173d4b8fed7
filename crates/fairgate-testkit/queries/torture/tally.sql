SELECT (SELECT count(*) FROM torture.staged) AS staged, (SELECT count(*) FROM torture.cancelled) AS cancelled,
       (SELECT count(*) FROM torture.admission) AS admitted, (SELECT count(DISTINCT job_id) FROM torture.success) AS succeeded,
       (SELECT count(*) FROM torture.success) AS runs,
       (SELECT count(*) FROM graphile_worker._private_jobs WHERE attempts >= max_attempts) AS dead,
       (SELECT coalesce(sum(partitions), 0)::bigint FROM torture.removal) AS removed,
       (SELECT count(*) FROM fairgate.tick_sample) AS ticks,
       (SELECT count(DISTINCT xid) FROM torture.admission) AS admitting_ticks,
       (SELECT count(*) FROM torture.look) AS looks,
       (SELECT count(*) FROM pg_stat_activity WHERE datname <> current_database() AND backend_type = 'client backend') AS strangers
