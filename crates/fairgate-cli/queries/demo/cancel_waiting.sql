-- Takes back what an earlier demo left waiting. $1 its policies.
SELECT count(*) FILTER (WHERE fairgate.cancel(s.job_id)) FROM fairgate.staged_jobs s WHERE s.policy = ANY ($1)
