SELECT f.job_id, l.name AS policy, p.key AS partition, q.name AS queue, f.admission_id, f.admitted_at, f.started_at, f.beat_at, f.forced, f.queue_job_id
  FROM fairgate.in_flight f JOIN fairgate.policy l ON l.id = f.policy_id JOIN fairgate.queue q ON q.id = f.queue_id
  LEFT JOIN fairgate.partition p ON p.id = f.partition_id
 WHERE f.job_id = $1 ORDER BY f.admitted_at DESC LIMIT 1
