INSERT INTO fairgate.policy (name, queue_id, revision, definition, key_parts, shard_parts, source, key_name,
       priority_min, priority_max, max_attempts_max, task_max_chars,
       restage, max_pending, key_until_admitted, key_replaces)
SELECT $1, q.id, $3, $4::text::jsonb, $5::text::jsonb, $6::text::jsonb, $7, $8, q.priority_min, q.priority_max, q.max_attempts_max, q.task_max_chars,
       coalesce($9, 'failed' = ANY (q.shows)), $10, $11, $12
  FROM fairgate.queue q WHERE q.name = $2
RETURNING id
