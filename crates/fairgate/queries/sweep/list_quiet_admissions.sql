-- Admissions that have never beaten and are old enough to ask the queue about, in id order from a place on ($1 queue, $2 age, $3 now, $4 place).
SELECT f.admission_id, f.queue_job_id
  FROM fairgate.in_flight f
 WHERE f.admission_id > $4 AND f.queue_id = $1 AND f.beat_at IS NULL AND f.admitted_at <= coalesce($3, clock_timestamp()) - $2::interval
 ORDER BY f.admission_id LIMIT 1000
