-- Which of the admissions ($1, with the queue's ids $2) the queue still waits with or runs. A job that has used up its attempts is neither.
SELECT c.admission_id
  FROM unnest($1::uuid[], $2::text[]) c (admission_id, queue_job_id)
  JOIN {schema}._private_jobs j ON j.id = c.queue_job_id::bigint
 WHERE j.flags #>> '{fairgate,a}' = c.admission_id::text AND (j.attempts < j.max_attempts OR j.locked_at IS NOT NULL)
