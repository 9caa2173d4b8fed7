-- The first half of the admission: the planned number of waiting jobs of every partition, in order, leaves staging and becomes `taken`.
-- $1 partitions, $2 their keys, $3 how many, $4 fairness ranks, $5 limits, $6 policy, $7 policy id, $8 queue id, $9 now, $10 whether their ends teach
-- a gate, $11 whether they count as waiting in the queue, $12 what each job is charged,
-- {only}: nothing, or a condition that names the last parameter, the only job to take. Of a policy with gates of a coarser scope the
-- marks /*scopes..*/ stand for a column from $13, the scopes whose slots the jobs hold. {queue_id} is the queue's own; its CTEs and record_admissions.sql follow.
-- Columns of fixed width stand first, where reading them costs less. The order interleaves the tenants, so that no tenant's jobs stand first in the queue: one number, because a sort by two columns costs a tenth of the statement.
WITH plan AS MATERIALIZED (
    SELECT u.partition_id, u.partition_key, u.take, u.rank, u.limits::jsonb AS limits, u.charged/*scopes_read*/
      FROM unnest($1::uuid[], $2::text[], $3::int[], $4::int[], $5::text[], $12::float8[]/*scopes_given*/) u (partition_id, partition_key, take, rank, limits, charged/*scopes*/)),
taken AS MATERIALIZED (
    SELECT o.*, $6::text AS policy, NULL::timestamptz AS run_at, {queue_id} AS queue_id
      FROM (SELECT j.tid, j.job_id, j.admission_id, n.partition_id, n.charged, j.priority, j.attempts, j.max_attempts, j.task, n.partition_key, j.queue_name, j.dedupe_key, j.last_error, n.limits/*scopes_planned*/, j.payload
              FROM plan n CROSS JOIN LATERAL (
                   SELECT l.*, row_number() OVER () AS turn
                     FROM (SELECT s.ctid AS tid, s.job_id, s.admission_id, s.task, s.payload, s.priority, s.queue_name, s.max_attempts,
                                  s.attempts, s.dedupe_key, s.last_error
                             FROM fairgate.staged s
                            WHERE s.partition_id = n.partition_id AND s.ready{only}
                            ORDER BY s.priority, s.ready_at, s.job_id LIMIT n.take
                              FOR UPDATE SKIP LOCKED) l) j
             WHERE n.take > 0
             ORDER BY (j.turn << 32) + n.rank) o),
-- Locked above, so nobody else can have them. A row that was changed between this statement's snapshot and the lock is not found by its
-- ctid here: fewer are gone than were taken then, and the caller rolls back and tries again.
gone AS (
    DELETE FROM fairgate.staged WHERE ctid = ANY (ARRAY (SELECT tid FROM taken)) RETURNING 1),
