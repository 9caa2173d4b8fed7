-- Admissions of a job that had been admitted before.
WITH wrong AS (
    SELECT a.job_id, count(*) AS times FROM fairgate_demo.admitted a GROUP BY 1 HAVING count(*) > 1)
SELECT coalesce(sum(w.times - 1), 0)::bigint, (SELECT format('job %s: admitted %s times', x.job_id, x.times) FROM wrong x ORDER BY 1 LIMIT 1)
  FROM wrong w
