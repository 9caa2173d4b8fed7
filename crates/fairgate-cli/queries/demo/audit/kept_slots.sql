-- Admissions whose job was received and whose slot did not come back.
WITH wrong AS (
    SELECT a.job_id FROM fairgate_demo.admitted a
     WHERE EXISTS (SELECT FROM fairgate_demo.received d WHERE d.job_id = a.job_id)
       AND NOT EXISTS (SELECT FROM fairgate_demo.released e WHERE e.admission_id = a.admission_id))
SELECT count(*), (SELECT format('job %s: received, its slot is still taken', w.job_id) FROM wrong w ORDER BY 1 LIMIT 1)
  FROM wrong
