INSERT INTO fairgate.policy_revision (policy_id, revision, definition) VALUES ($1, $2, $3::text::jsonb)
ON CONFLICT (policy_id, revision) DO NOTHING
