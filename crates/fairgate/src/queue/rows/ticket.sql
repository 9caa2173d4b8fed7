-- What our triggers need to know of the jobs. A job that is sent while fairgate is disabled gets none, so they leave it alone. An id can come
-- again only when the queue's table was emptied and its ids begin anew.
ticketed AS (
    INSERT INTO fairgate.ticket AS k (place, queue_job_id, admission_id, job_id, max_attempts, policy, partition_key, task, queue_name, dedupe_key)
    SELECT {place}, t.queue_id::text, t.admission_id, t.job_id, t.max_attempts, t.policy, t.partition_key, t.task, t.queue_name, t.dedupe_key
      FROM taken t WHERE t.admission_id IS NOT NULL
    ON CONFLICT (place, queue_job_id) DO UPDATE
       SET admission_id = excluded.admission_id, job_id = excluded.job_id, max_attempts = excluded.max_attempts, policy = excluded.policy,
           partition_key = excluded.partition_key, task = excluded.task, queue_name = excluded.queue_name, dedupe_key = excluded.dedupe_key, made_at = now()),
