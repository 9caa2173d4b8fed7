-- Due partitions of a lane ($1), longest due first, that count towards none of the scopes $3, and what they counted towards at their last look.
SELECT s.id, s.scopes FROM fairgate.partition_state s
 WHERE s.shard_id = $1 AND s.due_at <= (SELECT coalesce($2, clock_timestamp())) AND (s.scopes && $3::uuid[]) IS NOT TRUE
 ORDER BY s.due_at LIMIT $4
