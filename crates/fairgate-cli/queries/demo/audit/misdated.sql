-- Admissions whose time does not lie within their own transaction; the audit of rates relies on it.
WITH wrong AS (
    SELECT * FROM fairgate_demo.admitted a WHERE a.admitted_at NOT BETWEEN a.began_at AND a.logged_at)
SELECT count(*), (SELECT format('job %s: admitted at %s, between %s and %s', w.job_id, w.admitted_at, w.began_at, w.logged_at)
                    FROM wrong w ORDER BY w.seq LIMIT 1)
  FROM wrong
