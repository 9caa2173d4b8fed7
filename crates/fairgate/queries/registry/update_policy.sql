UPDATE fairgate.policy
   SET queue_id = (SELECT q.id FROM fairgate.queue q WHERE q.name = $2), revision = $3, definition = $4::text::jsonb, key_parts = $5::text::jsonb,
       shard_parts = $6::text::jsonb, source = $7, key_name = $8, retired = false, applied_at = now()
 WHERE id = $1
