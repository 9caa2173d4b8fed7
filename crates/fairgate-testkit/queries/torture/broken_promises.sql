-- What the triggers found, and the books: every job that a committed transaction staged was admitted once for each attempt and is done or dead, or was cancelled.
WITH admitted AS (
    SELECT a.job_id, count(*) AS times, count(*) - count(DISTINCT a.attempts) AS extra, min(a.at) AS first_at, max(a.at) AS last_at FROM torture.admission a GROUP BY 1),
dead AS (
    SELECT (j.flags #>> '{fairgate,j}')::uuid AS job_id FROM graphile_worker._private_jobs j
     WHERE j.attempts >= j.max_attempts AND j.locked_at IS NULL),
queued AS (
    SELECT (j.flags #>> '{fairgate,j}')::uuid AS job_id FROM graphile_worker._private_jobs j),
books AS (
    SELECT s.job_id, s.run_at, coalesce(a.times, 0) AS times, a.extra, a.first_at, a.last_at, c.job_id IS NOT NULL AS cancelled, c.at AS cancelled_at,
           d.job_id IS NOT NULL AS dead, q.job_id IS NOT NULL AS queued,
           EXISTS (SELECT FROM torture.success r WHERE r.job_id = s.job_id) AS succeeded,
           EXISTS (SELECT FROM fairgate.staged w WHERE w.job_id = s.job_id) AS waiting
      FROM torture.staged s LEFT JOIN admitted a USING (job_id) LEFT JOIN torture.cancelled c USING (job_id) LEFT JOIN dead d USING (job_id)
      LEFT JOIN queued q USING (job_id))
(SELECT v.fault, v.detail FROM torture.violation v ORDER BY v.id LIMIT 1000)
UNION ALL
(SELECT 'admitted_again', format('job %s was admitted %s times, %s too often', b.job_id, b.times, b.extra) FROM books b WHERE b.extra > 0 LIMIT 20)
UNION ALL
(SELECT 'admitted_early', format('job %s was admitted at %s, run_at is %s', b.job_id, b.first_at, b.run_at)
   FROM books b WHERE b.first_at < b.run_at LIMIT 20)
UNION ALL
(SELECT 'unknown_job', format('job %s was admitted and never committed', a.job_id)
   FROM admitted a WHERE NOT EXISTS (SELECT FROM torture.staged s WHERE s.job_id = a.job_id) LIMIT 20)
UNION ALL
(SELECT 'cancelled_job', format('job %s was cancelled at %s, last admitted at %s, waiting: %s, queued: %s', b.job_id, b.cancelled_at, b.last_at, b.waiting, b.queued)
   FROM books b WHERE b.cancelled AND (b.last_at > b.cancelled_at OR b.waiting OR b.queued) LIMIT 20)
UNION ALL
-- A key belongs to a job that is staged or in flight; one that is held until admission may lie about, free to take.
(SELECT 'key_left', format('key %s of policy %s is held by job %s', d.key, p.name, d.job_id)
   FROM fairgate.dedupe d JOIN fairgate.policy p ON p.id = d.policy_id
  WHERE NOT p.key_until_admitted AND NOT EXISTS (SELECT FROM fairgate.staged s WHERE s.job_id = d.job_id AND s.dedupe_key = d.key)
    AND NOT EXISTS (SELECT FROM fairgate.in_flight f WHERE f.job_id = d.job_id AND f.dedupe_key = d.key) LIMIT 20)
UNION ALL
(SELECT 'key_lost', format('job %s has key %s and does not hold it', s.job_id, s.dedupe_key)
   FROM fairgate.staged s WHERE s.dedupe_key IS NOT NULL
    AND NOT EXISTS (SELECT FROM fairgate.dedupe d WHERE d.id = fairgate.dedupe_id(s.policy_id, s.dedupe_key) AND d.job_id = s.job_id) LIMIT 20)
UNION ALL
(SELECT 'lost_job', format('job %s was admitted %s times, is not waiting, not in the queue, and no run of it succeeded', b.job_id, b.times)
   FROM books b WHERE NOT b.cancelled AND NOT b.waiting AND NOT b.queued AND NOT b.succeeded LIMIT 20)
UNION ALL
(SELECT 'not_done', format('job %s: admitted %s times, waiting: %s, in the queue: %s', b.job_id, b.times, b.waiting, b.queued)
   FROM books b WHERE NOT b.cancelled AND (b.waiting OR (b.queued AND NOT b.dead)) LIMIT 20)
UNION ALL
(SELECT 'slot_left', format('admission %s of job %s holds a slot of partition %s, and the queue is done with it', f.admission_id, f.job_id, f.partition_id)
   FROM fairgate.in_flight f
  WHERE NOT EXISTS (SELECT FROM graphile_worker._private_jobs j WHERE (j.flags #>> '{fairgate,a}')::uuid = f.admission_id
                       AND (j.attempts < j.max_attempts OR j.locked_at IS NOT NULL)) LIMIT 20)
UNION ALL
(SELECT 'slot_left', format('partition %s counts %s in flight, and there are none', s.id, s.in_flight) FROM fairgate.partition_state s
  WHERE s.in_flight <> 0 AND NOT EXISTS (SELECT FROM fairgate.in_flight f WHERE f.partition_id = s.id)
    AND NOT EXISTS (SELECT FROM fairgate.delta d WHERE d.partition_id = s.id) LIMIT 20)
UNION ALL
(SELECT 'quarantined', format('job %s: %s', x.job_id, x.error) FROM fairgate.quarantined x LIMIT 20)
UNION ALL
(SELECT 'deadlock', format('%s deadlocks in this database', d.deadlocks)
   FROM pg_stat_database d WHERE d.datname = current_database() AND d.deadlocks > 0)
