-- Jobs that are nowhere: gone from staging without an admission, or gone from the queue without having been received.
WITH admission AS (
    SELECT a.job_id, bool_and(e.admission_id IS NOT NULL) AS ended
      FROM fairgate_demo.admitted a LEFT JOIN fairgate_demo.released e ON e.admission_id = a.admission_id GROUP BY 1),
wrong AS (
    SELECT s.job_id, a.job_id IS NULL AS early
      FROM fairgate_demo.staged s LEFT JOIN admission a ON a.job_id = s.job_id
     WHERE NOT EXISTS (SELECT FROM fairgate_demo.received d WHERE d.job_id = s.job_id)
       AND (a.ended OR (a.job_id IS NULL AND NOT EXISTS (SELECT FROM fairgate.staged w WHERE w.job_id = s.job_id)
                                         AND NOT EXISTS (SELECT FROM fairgate.quarantined q WHERE q.job_id = s.job_id))))
SELECT count(*), (SELECT format('job %s: %s', w.job_id, CASE WHEN w.early THEN 'gone from staging, never admitted' ELSE 'gone from the queue, never received' END)
                    FROM wrong w ORDER BY 1 LIMIT 1)
  FROM wrong
