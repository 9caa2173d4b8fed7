-- What is not done yet, in one snapshot. All zero: drained.
SELECT (SELECT count(*) FROM fairgate.staged) AS staged, (SELECT count(*) FROM fairgate.delta) + (SELECT count(*) FROM fairgate.scope_delta) AS reports,
       (SELECT count(*) FROM graphile_worker._private_jobs WHERE attempts < max_attempts OR locked_at IS NOT NULL) AS queued,
       (SELECT count(*) FROM fairgate.in_flight) AS slots,
       (SELECT coalesce(sum(abs(s.pending) + abs(s.future) + abs(s.in_flight)), 0)::bigint FROM fairgate.partition_state s)
       + (SELECT coalesce(sum(s.in_flight), 0)::bigint FROM fairgate.scope s) AS counted
