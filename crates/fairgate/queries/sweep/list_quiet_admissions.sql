-- Admissions that have never beaten and are old enough to ask the queue about, from a place on ($1 queue, $2 age, $3 now, $4 and $5 place).
SELECT f.admission_id, f.queue_job_id, f.admitted_at
  FROM fairgate.in_flight f
 WHERE f.queue_id = $1 AND f.beat_at IS NULL AND f.admitted_at <= coalesce($3, clock_timestamp()) - $2::interval
   AND f.admitted_at >= $4 AND (f.admitted_at, f.admission_id) > ($4, $5)
 ORDER BY f.admitted_at, f.admission_id LIMIT 1000
