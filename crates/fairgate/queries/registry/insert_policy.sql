INSERT INTO fairgate.policy (name, queue_id, revision, definition, key_parts, shard_parts, source, key_name)
VALUES ($1, (SELECT q.id FROM fairgate.queue q WHERE q.name = $2), $3, $4::text::jsonb, $5::text::jsonb, $6::text::jsonb, $7, $8)
RETURNING id
