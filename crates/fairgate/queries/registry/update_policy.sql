UPDATE fairgate.policy p
   SET queue_id = q.id, priority_min = q.priority_min, priority_max = q.priority_max, max_attempts_max = q.max_attempts_max,
       task_max_chars = q.task_max_chars, revision = $3, definition = $4::text::jsonb, key_parts = $5::text::jsonb,
       shard_parts = $6::text::jsonb, source = $7, key_name = $8, restage = coalesce($9, 'failed' = ANY (q.shows)), max_pending = $10, key_until_admitted = $11, key_replaces = $12,
       retired = false, applied_at = now()
  FROM fairgate.queue q
 WHERE p.id = $1 AND q.name = $2
RETURNING p.id
