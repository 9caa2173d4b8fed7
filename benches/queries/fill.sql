-- {jobs} waiting jobs over {tenants} tenants, as bulk staging leaves them.
INSERT INTO fairgate.staged (job_id, admission_id, partition_id, policy_id, priority, ready_at, staged_at, ready, partition_key, task, payload, context)
SELECT fairgate.job_id(now(), nextval('fairgate.job_seq')), fairgate.job_id(now(), nextval('fairgate.job_seq')), fairgate.partition_id(p.id, k.key), p.id, 0, now(), now(), true, k.key, 'noop',
       '{"n": 1, "text": "a payload of ordinary length for a background job"}', '{"priority": 0}'
  FROM fairgate.policy p CROSS JOIN generate_series(1, {jobs}) n CROSS JOIN LATERAL (SELECT 'tenant-' || (n % {tenants}) AS key) k
 WHERE p.name = 'bench';
INSERT INTO fairgate.delta (partition_id, staged, policy_id, seq, key, shard, context)
SELECT partition_id, count(*), policy_id, nextval('fairgate.job_seq'), partition_key, 'default', '{}' FROM fairgate.staged GROUP BY partition_id, policy_id, partition_key;
INSERT INTO bench.raw_staged SELECT * FROM fairgate.staged;
