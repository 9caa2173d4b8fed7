-- What became of each tenant's deliveries, from the demo's own record. most_in_flight: at once. A job that still waits counts in longest_wait_ms.
WITH admission AS (
    SELECT a.job_id, min(a.admitted_at) AS admitted_at FROM fairgate_demo.admitted a GROUP BY 1),
staged AS (
    SELECT s.place, count(*) AS jobs, count(a.job_id) AS admitted, max(coalesce(a.admitted_at, clock_timestamp()) - s.staged_at) AS longest
      FROM fairgate_demo.staged s LEFT JOIN admission a ON a.job_id = s.job_id GROUP BY 1),
held AS (
    SELECT a.partition_id, max(a.held) AS most FROM fairgate_demo.admitted a GROUP BY 1),
in_flight AS (
    SELECT a.partition_id, count(*) AS jobs FROM fairgate_demo.admitted a
     WHERE NOT EXISTS (SELECT FROM fairgate_demo.released e WHERE e.admission_id = a.admission_id) GROUP BY 1),
received AS (
    SELECT r.place, count(DISTINCT r.job_id) AS jobs, count(*) AS times FROM fairgate_demo.received r GROUP BY 1)
SELECT u.place, coalesce(s.jobs, 0) AS staged, coalesce(s.admitted, 0) AS admitted, coalesce(f.jobs, 0) AS in_flight, coalesce(d.jobs, 0) AS done,
       coalesce(d.times - d.jobs, 0) AS duplicates, coalesce(h.most, 0) AS most_in_flight,
       coalesce(greatest(extract(epoch FROM s.longest) * 1000, 0), 0)::bigint AS longest_wait_ms
  FROM fairgate_demo.rule u LEFT JOIN staged s ON s.place = u.place LEFT JOIN held h ON h.partition_id = u.partition_id
  LEFT JOIN in_flight f ON f.partition_id = u.partition_id LEFT JOIN received d ON d.place = u.place
 ORDER BY u.place
