-- Which of the admissions ($1, with the queue's ids $2) still wait or run.
SELECT c.admission_id
  FROM unnest($1::uuid[], $2::text[]) c (admission_id, queue_job_id)
  JOIN {schema}.jobs j ON j.id = c.queue_job_id::bigint
 WHERE j.admission_id = c.admission_id AND j.state <> 'dead'
