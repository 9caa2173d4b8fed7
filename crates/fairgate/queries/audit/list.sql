-- The newest first; $1 a policy, $2 a partition of it, $3 before this id, $4 how many.
SELECT a.id, a.at, a.who, a.action, a.policy, a.partition_key, a.job_id, a.detail, a.done_at, a.succeeded, a.outcome
  FROM fairgate.audit a
 WHERE ($1::text IS NULL OR a.policy = $1) AND ($2::text IS NULL OR a.partition_key = $2) AND ($3::bigint IS NULL OR a.id < $3)
 ORDER BY a.id DESC LIMIT $4
