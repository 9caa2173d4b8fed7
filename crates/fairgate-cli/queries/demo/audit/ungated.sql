-- Jobs that were received without having been admitted.
WITH wrong AS (
    SELECT DISTINCT d.job_id FROM fairgate_demo.received d
     WHERE NOT EXISTS (SELECT FROM fairgate_demo.admitted a WHERE a.job_id = d.job_id))
SELECT count(*), (SELECT format('job %s: received, never admitted', w.job_id) FROM wrong w ORDER BY 1 LIMIT 1)
  FROM wrong
