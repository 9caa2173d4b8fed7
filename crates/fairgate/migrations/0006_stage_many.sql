-- Staging many jobs: fairgate.stage_many for every language, fairgate.stage_rows behind it and behind the Rust door.

-- Any number of jobs in one statement: two inserts, one delta row per partition. Arrays run in parallel.
CREATE FUNCTION fairgate.stage_rows(policy text, tasks text[], payloads json[], contexts jsonb[], partition_keys text[], priorities int[],
    run_ats timestamptz[], dedupe_keys text[], queue_names text[], max_attempts int[], first_ordinal bigint DEFAULT 1)
RETURNS TABLE (ordinal bigint, job_id uuid, staged boolean, outcome text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    p record;
    ids uuid[];
    seqs bigint[];
    routed record;
    settled record;
    told record;
BEGIN
    p := fairgate.policy_to_stage(policy);
    IF NOT p.enabled THEN
        RETURN QUERY
        WITH input AS MATERIALIZED (
            SELECT i.*, r.key, fairgate.job_id(now(), nextval('fairgate.job_seq')) AS id
              FROM unnest(tasks, payloads, contexts, partition_keys, priorities, run_ats, dedupe_keys, queue_names, stage_rows.max_attempts)
                   WITH ORDINALITY i (task, payload, context, partition_key, priority, run_at, dedupe_key, queue_name, max_attempts, n)
             CROSS JOIN LATERAL fairgate.route(p.id, p.key_parts, p.shard_parts, p.queue, p.priority_min, p.priority_max, p.max_attempts_max,
                   p.task_max_chars, 'job ' || (first_ordinal + i.n - 1), i.task, i.payload,
                   coalesce(i.context, '{}'), i.partition_key, coalesce(i.priority, 0), i.run_at, i.dedupe_key, i.queue_name, i.max_attempts) r),
        sent AS MATERIALIZED (
            SELECT fairgate.send(policy, array_agg(id ORDER BY n), array_agg(key ORDER BY n), array_agg(task ORDER BY n),
                   array_agg(payload ORDER BY n), array_agg(coalesce(priority, 0) ORDER BY n), array_agg(run_at ORDER BY n),
                   array_agg(queue_name ORDER BY n), array_agg(max_attempts ORDER BY n)) FROM input HAVING count(*) > 0)
        SELECT first_ordinal + n - 1, id, false, 'sent' FROM input, (SELECT count(*) FROM sent) s ORDER BY n;
        RETURN;
    END IF;
    SELECT array_agg(fairgate.job_id(now(), x.seq)), array_agg(x.seq) INTO ids, seqs
      FROM (SELECT nextval('fairgate.job_seq') AS seq FROM generate_series(1, cardinality(tasks))) x;
    SELECT array_agg(r.key ORDER BY i.n) AS keys, array_agg(r.shard ORDER BY i.n) AS shards, array_agg(r.partition_id ORDER BY i.n) AS partitions INTO routed
      FROM unnest(tasks, payloads, contexts, partition_keys, priorities, run_ats, dedupe_keys, queue_names, stage_rows.max_attempts)
           WITH ORDINALITY i (task, payload, context, partition_key, priority, run_at, dedupe_key, queue_name, max_attempts, n)
     CROSS JOIN LATERAL fairgate.route(p.id, p.key_parts, p.shard_parts, p.queue, p.priority_min, p.priority_max, p.max_attempts_max,
           p.task_max_chars, 'job ' || (first_ordinal + i.n - 1), i.task, i.payload,
           coalesce(i.context, '{}'), i.partition_key, coalesce(i.priority, 0), i.run_at, i.dedupe_key, i.queue_name, i.max_attempts) r;
    IF EXISTS (SELECT FROM unnest(dedupe_keys) k WHERE k IS NOT NULL) THEN
        settled := fairgate.settle_keys(policy, p, ids, seqs, dedupe_keys, routed.keys, routed.shards, routed.partitions, tasks, payloads, contexts,
            priorities, run_ats, queue_names, stage_rows.max_attempts);
    ELSE
        SELECT ids AS counts, array_fill('staged'::text, ARRAY[coalesce(cardinality(ids), 0)]) AS outcomes,
               ARRAY (SELECT generate_series(1, cardinality(ids))) AS contents INTO settled;
    END IF;
    WITH input AS (
        SELECT i.n, i.task, i.payload, coalesce(i.context, '{}') AS context, coalesce(i.priority, 0) AS priority, i.run_at, i.queue_name,
               i.max_attempts, i.dedupe_key, i.run_at IS NULL OR i.run_at <= now() AS ready, i.key, i.shard, i.partition_id
          FROM unnest(tasks, payloads, contexts, priorities, run_ats, dedupe_keys, queue_names, stage_rows.max_attempts, routed.keys, routed.shards, routed.partitions)
               WITH ORDINALITY i (task, payload, context, priority, run_at, dedupe_key, queue_name, max_attempts, key, shard, partition_id, n)),
    written AS MATERIALIZED (
        SELECT i.*, w.id, w.seq FROM unnest(settled.contents, ids, seqs) w (content, id, seq) JOIN input i ON i.n = w.content),
    added AS (
        INSERT INTO fairgate.staged (job_id, admission_id, partition_id, policy_id, priority, ready_at, run_at, staged_at, max_attempts, ready,
               partition_key, task, queue_name, payload, context, dedupe_key)
        SELECT w.id, fairgate.admission_id(now(), w.seq), w.partition_id, p.id, w.priority, coalesce(w.run_at, now()), w.run_at, now(), w.max_attempts, w.ready,
               w.key, w.task, w.queue_name, w.payload, w.context, w.dedupe_key FROM written w),
    told AS (
        INSERT INTO fairgate.delta (partition_id, staged, future, policy_id, seq, key, shard, context, capped)
        SELECT partition_id, ready_jobs, all_jobs - ready_jobs, p.id, seq, key, shard, context, p.max_pending IS NOT NULL
          FROM (SELECT w.*, count(*) FILTER (WHERE w.ready) OVER same AS ready_jobs, count(*) OVER same AS all_jobs,
                       row_number() OVER (same ORDER BY w.seq DESC) AS newest
                  FROM written w WINDOW same AS (PARTITION BY w.partition_id)) x
         WHERE newest = 1
        RETURNING partition_id, key, staged + future AS jobs)
    SELECT array_agg(t.partition_id) AS partitions, array_agg(t.key) AS keys, array_agg(t.jobs) AS jobs INTO told FROM told t;
    IF p.max_pending IS NOT NULL THEN
        PERFORM fairgate.check_backlog(policy, p.max_pending, t.id, t.key, t.jobs) FROM unnest(told.partitions, told.keys, told.jobs) t (id, key, jobs);
    END IF;
    RETURN QUERY SELECT first_ordinal + s.n - 1, s.id, s.outcome = 'staged', s.outcome
      FROM unnest(settled.counts, settled.outcomes) WITH ORDINALITY s (id, outcome, n) ORDER BY s.n;
    IF p.anybody_asleep AND NOT p.paused THEN
        NOTIFY fairgate;
    END IF;
END $$;

-- Opens an array of job objects. An escaped NUL, or half of a surrogate pair, may stand in a payload only; PostgreSQL cannot open an object
-- that holds one, so its backslash and u are swapped for a random word of this call and put back into the payload.
CREATE FUNCTION fairgate.stage_many(policy text, jobs json)
RETURNS TABLE (ordinal bigint, job_id uuid, staged boolean, outcome text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    mark text := 'mark' || replace(gen_random_uuid()::text, '-', '');
    -- Behind an even number of backslashes: NUL, a first half without a second, a second half without a first.
    unstorable text := '(?<!\\)((?:\\\\)*)\\u(0000|[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})'
                    || '|(?<!(?<!\\)(?:\\\\)*\\u[dD][89abAB][0-9a-fA-F]{2}\\u)[dD][c-fC-F][0-9a-fA-F]{2})';
    bad record;
    a record;
BEGIN
    IF jobs IS NULL OR json_typeof(jobs) <> 'array' THEN
        RAISE EXCEPTION 'jobs is %, it must be a JSON array of objects', coalesce('a JSON ' || json_typeof(jobs), 'NULL') USING ERRCODE = 'FG004';
    END IF;
    FOR bad IN
        SELECT x.n, json_typeof(x.job) AS kind FROM json_array_elements(jobs) WITH ORDINALITY x (job, n) WHERE json_typeof(x.job) <> 'object' LIMIT 1
    LOOP
        RAISE EXCEPTION 'job %: is a JSON %, it must be an object', bad.n, bad.kind USING ERRCODE = 'FG004';
    END LOOP;
    BEGIN
        WITH opened AS MATERIALIZED (
            SELECT x.n, CASE WHEN position('\u0000' IN x.job::text) > 0 OR position('\ud' IN x.job::text) > 0 OR position('\uD' IN x.job::text) > 0
                             THEN regexp_replace(x.job::text, unstorable, '\1' || mark || '\2', 'g')::json ELSE x.job END AS job
              FROM json_array_elements(jobs) WITH ORDINALITY x (job, n)),
        unknown AS (
            SELECT o.n, k FROM opened o CROSS JOIN LATERAL json_object_keys(o.job) k
             WHERE k NOT IN ('task', 'payload', 'context', 'partition_key', 'priority', 'run_at', 'dedupe_key', 'queue_name', 'max_attempts')
             ORDER BY o.n LIMIT 1),
        fields AS (
            SELECT o.n, o.job, f.* FROM opened o CROSS JOIN LATERAL json_to_record(o.job)
                f (task text, context jsonb, partition_key text, priority int, run_at timestamptz, dedupe_key text, queue_name text, max_attempts int)),
        jobs AS (
            SELECT f.*, position(mark IN concat_ws(' ', f.task, f.context::text, f.partition_key, f.dedupe_key, f.queue_name)) > 0 AS misplaced,
                   CASE WHEN f.job -> 'payload' IS NULL THEN '{}' ELSE replace((f.job -> 'payload')::text, mark, '\u') END::json AS payload FROM fields f)
        SELECT array_agg(j.task ORDER BY j.n) AS tasks, array_agg(j.payload ORDER BY j.n) AS payloads, array_agg(j.context ORDER BY j.n) AS contexts,
               array_agg(j.partition_key ORDER BY j.n) AS partition_keys, array_agg(j.priority ORDER BY j.n) AS priorities,
               array_agg(j.run_at ORDER BY j.n) AS run_ats, array_agg(j.dedupe_key ORDER BY j.n) AS dedupe_keys,
               array_agg(j.queue_name ORDER BY j.n) AS queue_names, array_agg(j.max_attempts ORDER BY j.n) AS max_attempts,
               min(j.n) FILTER (WHERE j.misplaced) AS misplaced_at, (SELECT u.n FROM unknown u) AS unknown_at, (SELECT u.k FROM unknown u) AS unknown_key
          INTO a FROM jobs j;
    EXCEPTION WHEN data_exception THEN
        -- A value that is not of its field's type; look for the job, so that the message names it.
        FOR bad IN SELECT x.n, x.job FROM json_array_elements(jobs) WITH ORDINALITY x (job, n) LOOP
            BEGIN
                PERFORM f FROM json_to_record(bad.job)
                    f (task text, context jsonb, partition_key text, priority int, run_at timestamptz, dedupe_key text, queue_name text, max_attempts int);
            EXCEPTION WHEN data_exception THEN
                RAISE EXCEPTION 'job %: %', bad.n, SQLERRM USING ERRCODE = 'FG004',
                    HINT = 'priority and max_attempts are integers, run_at is a time, context is an object, the rest is text.';
            END;
        END LOOP;
        RAISE;
    END;
    IF a.unknown_at IS NOT NULL THEN
        RAISE EXCEPTION 'job %: unknown key "%"', a.unknown_at, replace(a.unknown_key, mark, '\u') USING ERRCODE = 'FG004',
            HINT = 'Known keys: task, payload, context, partition_key, priority, run_at, dedupe_key, queue_name, max_attempts.';
    ELSIF a.misplaced_at IS NOT NULL THEN
        RAISE EXCEPTION 'job %: an escaped NUL (\u0000) or half of a surrogate pair stands outside the payload, where PostgreSQL cannot hold it',
            a.misplaced_at USING ERRCODE = 'FG004', HINT = 'Remove it from the context, the key or the name.';
    END IF;
    RETURN QUERY SELECT * FROM fairgate.stage_rows(policy, coalesce(a.tasks, '{}'), a.payloads, a.contexts, a.partition_keys, a.priorities,
        a.run_ats, a.dedupe_keys, a.queue_names, a.max_attempts);
END $$;
