-- Which of the admissions ($1, with the queue's ids $2) the queue still waits with or runs.
SELECT c.admission_id
  FROM unnest($1::uuid[], $2::text[]) c (admission_id, queue_job_id)
  JOIN {table} r ON r.{id} = c.queue_job_id::{id_type}
 WHERE ({state}) IN ('waiting', 'running'){live}
