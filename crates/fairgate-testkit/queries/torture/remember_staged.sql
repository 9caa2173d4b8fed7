INSERT INTO torture.staged (job_id, policy, run_at)
SELECT u.job_id, $2, u.run_at FROM unnest($1::uuid[], $3::timestamptz[]) u (job_id, run_at)
