-- The first half of the admission: the planned number of waiting jobs of every partition, in order, leaves staging and becomes `taken`.
-- $1 partitions, $2 their keys, $3 how many, $4 fairness ranks, $5 limits, $6 policy, $7 policy id, $8 queue id, $9 now,
-- $10 NULL, or the only jobs to take. The queue's own CTEs and record_admissions.sql follow. `turn` interleaves the tenants in the queue.
WITH plan AS MATERIALIZED (
    SELECT * FROM unnest($1::uuid[], $2::text[], $3::int[], $4::int[], $5::text[]) u (partition_id, partition_key, take, rank, limits)),
picked AS (
    SELECT j.tid
      FROM plan n CROSS JOIN LATERAL (
           SELECT s.ctid AS tid FROM fairgate.staged s
            WHERE s.partition_id = n.partition_id AND s.ready AND ($10::uuid[] IS NULL OR s.job_id = ANY ($10))
            ORDER BY s.priority, s.ready_at, s.job_id LIMIT n.take
              FOR UPDATE SKIP LOCKED) j
     WHERE n.take > 0),
gone AS (
    DELETE FROM fairgate.staged WHERE ctid = ANY (ARRAY (SELECT tid FROM picked))
    RETURNING job_id, partition_id, priority, ready_at, task, payload, queue_name, max_attempts),
in_turn AS MATERIALIZED (
    SELECT g.*, row_number() OVER (PARTITION BY g.partition_id ORDER BY g.priority, g.ready_at, g.job_id) AS turn FROM gone g),
-- FULL JOIN: hash or merge only, so that stale statistics cannot make it quadratic.
taken AS MATERIALIZED (
    SELECT gen_random_uuid() AS admission_id, g.job_id, g.partition_id, $6::text AS policy, n.partition_key, g.task, g.payload, g.priority,
           g.queue_name, g.max_attempts, NULL::timestamptz AS run_at, n.limits, row_number() OVER (ORDER BY g.turn, n.rank) AS ordinal
      FROM in_turn g FULL JOIN plan n ON n.partition_id = g.partition_id
     WHERE g.job_id IS NOT NULL),
