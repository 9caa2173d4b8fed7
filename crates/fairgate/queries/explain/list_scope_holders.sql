-- Who holds slots of a scope ($2, of policy $1): the oldest.
SELECT f.job_id, f.admission_id, f.admitted_at, f.started_at, f.beat_at, f.forced, f.queue_job_id
  FROM fairgate.in_flight f WHERE f.policy_id = $1 AND $2 = ANY (f.scopes) ORDER BY f.admitted_at, f.admission_id LIMIT 10
