-- A pgmq queue is the job's queue_name, else its task. Messages of one call keep the order of the jobs.
nudged AS (
    SELECT fairgate.pgmq_send({text}, g.queue, g.messages, g.headers, g.run_at) AS sent
      FROM (SELECT coalesce(t.queue_name, t.task) AS queue, t.run_at, array_agg(t.payload::jsonb ORDER BY t.turn) AS messages,
                   array_agg(CASE WHEN t.admission_id IS NOT NULL THEN jsonb_build_object('fairgate',
                       jsonb_build_object('a', t.admission_id, 'j', t.job_id, 'policy', t.policy, 'p', t.partition_key)) END ORDER BY t.turn) AS headers
              FROM (SELECT t.*, row_number() OVER () AS turn FROM taken t) t
             GROUP BY 1, 2) g
     -- Keeps the call: the number of these rows is all that is asked of them.
     OFFSET 0)
