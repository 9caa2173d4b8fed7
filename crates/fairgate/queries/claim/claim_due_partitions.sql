-- Locks up to $3 due partitions of shard $2, longest due first, and returns every fact that a decision needs. $1 policy, $4 now.
-- Where $5 tickers are at work and fewer than $5 batches are due, each takes its part, so that the others do not stand idle.
-- The mark /*among*/ stands for a condition that names $6, the only partitions to lock, where scopes are fought for; the others for where a partition
-- stands with its scopes, of a policy that has some.
-- The flags are read in this statement, after the policy's lock was had in an earlier one; keys, contexts and overrides are read after the locks.
WITH t AS MATERIALIZED (
    SELECT coalesce($4, clock_timestamp()) AS now),
open AS MATERIALIZED (
    SELECT p.revision FROM fairgate.policy p CROSS JOIN fairgate.engine e
     WHERE p.id = $1 AND p.enabled AND e.enabled AND NOT p.paused AND NOT p.retired),
claimed AS MATERIALIZED (
    SELECT s.id, s.due_at, s.pending, s.in_flight, s.gates, s.recent, s.recent_at, s.starved, s.lessons, s.share, s.correction, s.finished_jobs, s.finished_seconds/*stood*/
      FROM fairgate.partition_state s
     WHERE s.shard_id = $2 AND s.due_at <= (SELECT t.now FROM t) AND EXISTS (SELECT FROM open)/*among*/
     ORDER BY s.due_at
     LIMIT CASE WHEN $5 <= 1 THEN $3::bigint ELSE
           (SELECT least($3::bigint, greatest(10, (count(*) + $5 - 1) / $5))
              FROM (SELECT FROM fairgate.partition_state d WHERE d.shard_id = $2 AND d.due_at <= (SELECT t.now FROM t) LIMIT $3::bigint * $5::bigint) due) END
       FOR NO KEY UPDATE SKIP LOCKED)
-- FULL JOIN: hash or merge only, so that no estimate can make it quadratic.
SELECT c.id, p.key, p.context, c.pending, c.in_flight::bigint AS in_flight, c.gates, c.recent, c.recent_at, c.starved, c.lessons::text AS lessons, c.share, c.correction, c.finished_jobs, c.finished_seconds, p.overrides, t.now, open.revision/*stands*/
  FROM claimed c FULL JOIN fairgate.locked_partitions(ARRAY (SELECT id FROM claimed)) p ON p.id = c.id CROSS JOIN t CROSS JOIN open
 ORDER BY c.due_at
