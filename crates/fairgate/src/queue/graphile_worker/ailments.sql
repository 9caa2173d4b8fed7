-- A clean-up of unused task identifiers beside an uncommitted enqueue can remove the task of a job: no worker ever fetches it.
SELECT format('%s jobs have a task that no longer exists, first: job %s', count(*), min(j.id)),
       'the clean-up GC_TASK_IDENTIFIERS ran beside an enqueue; do not run it while jobs are added, and add the identifiers again'
  FROM {schema}._private_jobs j
 WHERE NOT EXISTS (SELECT FROM {schema}._private_tasks t WHERE t.id = j.task_id)
HAVING count(*) > 0
UNION ALL
-- A worker takes one job for each wake-up unless it fetches in batches; whether it does cannot be seen here, only that jobs lie.
SELECT format('%s jobs have been due for over 10 s and no job is being run', count(*)),
       'start a worker; if one runs, let it fetch in batches: .local_queue(LocalQueueConfig::default().with_size(100)) in Rust, localQueue: { size: 100 } in Node'
  FROM {schema}._private_jobs j
 WHERE j.locked_at IS NULL AND j.attempts < j.max_attempts AND j.run_at < now() - interval '10 seconds' AND j.job_queue_id IS NULL
   AND NOT EXISTS (SELECT FROM {schema}._private_jobs r WHERE r.locked_at > now() - interval '4 hours')
HAVING count(*) > 20
