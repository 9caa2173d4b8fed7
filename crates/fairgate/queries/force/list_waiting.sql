-- What waits and could go by its time, partition by partition, lane by lane. $1 policy, $2 partition or NULL for all of them.
SELECT w.partition_id, s.shard_id, w.jobs
  FROM (SELECT j.partition_id, count(*) AS jobs FROM fairgate.staged j
         WHERE j.policy_id = $1 AND j.ready AND ($2::uuid IS NULL OR j.partition_id = $2) GROUP BY 1) w
  JOIN fairgate.partition_state s ON s.id = w.partition_id
 ORDER BY s.shard_id, w.partition_id
