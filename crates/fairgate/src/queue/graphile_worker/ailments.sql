-- A clean-up of unused task identifiers beside an uncommitted enqueue can remove the task of a job: no worker ever fetches it.
SELECT format('%s jobs have a task that no longer exists, first: job %s', count(*), min(j.id)),
       'the clean-up GC_TASK_IDENTIFIERS ran beside an enqueue; do not run it while jobs are added, and add the identifiers again'
  FROM {schema}._private_jobs j
 WHERE NOT EXISTS (SELECT FROM {schema}._private_tasks t WHERE t.id = j.task_id)
HAVING count(*) > 0
