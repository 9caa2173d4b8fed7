-- Admissions with more jobs in flight than the tenant's cap. What was held is counted in the admitting transaction, which sees every
-- admission of the partition before it; one that did not see its predecessor counts too, because then nobody knows what was held.
WITH turns AS (
    SELECT a.seq, a.partition_id, a.held, a.transaction_id, a.snapshot, lag(a.transaction_id) OVER (PARTITION BY a.partition_id ORDER BY a.seq) AS before
      FROM fairgate_demo.admitted a),
wrong AS (
    SELECT t.seq, r.policy, r.tenant, r.cap, t.held, t.held > r.cap AS over
      FROM turns t JOIN fairgate_demo.rule r ON r.partition_id = t.partition_id
     WHERE t.held > r.cap OR (r.cap IS NOT NULL AND t.before <> t.transaction_id AND NOT pg_visible_in_snapshot(t.before, t.snapshot)))
SELECT count(*), (SELECT format('%s %s: %s', w.policy, w.tenant,
                         CASE WHEN w.over THEN format('%s in flight where %s are allowed', w.held, w.cap)
                              ELSE 'admitted without seeing the admission before' END)
                    FROM wrong w ORDER BY w.held - w.cap DESC, w.seq LIMIT 1)
  FROM wrong
