-- Admissions of a job that was not staged, or was staged for somebody else.
WITH wrong AS (
    SELECT a.job_id, r.policy, r.tenant
      FROM fairgate_demo.admitted a JOIN fairgate_demo.rule r ON r.partition_id = a.partition_id
      LEFT JOIN fairgate_demo.staged s ON s.job_id = a.job_id
     WHERE s.place IS DISTINCT FROM r.place)
SELECT count(*), (SELECT format('job %s: admitted for %s %s, which had not staged it', w.job_id, w.policy, w.tenant) FROM wrong w ORDER BY 1 LIMIT 1)
  FROM wrong
