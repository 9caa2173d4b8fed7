-- The row that staging writes, into a table of the same make, with ids that cost the least.
INSERT INTO bench.raw_staged (job_id, admission_id, partition_id, policy_id, priority, ready_at, staged_at, ready, partition_key, task, payload, context)
VALUES (gen_random_uuid(), gen_random_uuid(), '00000000-0000-0000-0000-000000000001', 1, 0, now(), now(), true, 'one', $1, $2::text::json, $3::text::jsonb)
