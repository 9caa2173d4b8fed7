-- Procrastinate calls a task with the members of its arguments by name.
SELECT format('%s waiting jobs have arguments that are no JSON object, first: job %s', count(*), min(r.id)),
       'stage them with an object as payload: its members become the task''s keyword arguments'
  FROM {table} r WHERE r.status::text = 'todo' AND jsonb_typeof(r.args) <> 'object'
HAVING count(*) > 0
UNION ALL
-- Jobs of a worker that is gone stay "doing" until somebody retries them.
SELECT format('%s jobs have been "doing" without a worker, first: job %s', count(*), min(r.id)),
       'their worker was lost: retry them, app.job_manager.get_stalled_jobs() lists them'
  FROM {table} r WHERE r.status::text = 'doing' AND r.worker_id IS NULL
HAVING count(*) > 0
