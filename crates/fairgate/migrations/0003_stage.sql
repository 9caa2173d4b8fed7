-- Staging, for every language: fairgate.stage, fairgate.stage_many, and fairgate.stage_rows behind both the Rust door and stage_many.
-- Nothing here takes a lock that another key could take in the other order, and nothing waits for a ticker.
-- SECURITY DEFINER: a producer needs USAGE on schema fairgate and nothing else.

-- What staging must know of a policy, or the error that names it.
CREATE FUNCTION fairgate.policy_to_stage(name text,
    OUT id int, OUT enabled boolean, OUT paused boolean, OUT key_parts jsonb, OUT shard_parts jsonb,
    OUT queue fairgate.queue)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    found_policy record;
BEGIN
    SELECT p.id, p.name, p.retired, p.paused, p.key_parts, p.shard_parts, p.enabled AND e.enabled AS enabled, q AS queue INTO found_policy
      FROM fairgate.policy p JOIN fairgate.queue q ON q.id = p.queue_id CROSS JOIN fairgate.engine e
     WHERE p.name = policy_to_stage.name;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'policy "%" is not registered', policy_to_stage.name USING ERRCODE = 'FG001',
            HINT = coalesce('Registered: ' || (SELECT string_agg(x.name, ', ' ORDER BY x.name)
                              FROM (SELECT r.name FROM fairgate.policy r WHERE NOT r.retired ORDER BY r.name LIMIT 20) x) || '. ', '')
                   || 'Add it to fairgate.toml and run "fairgate apply".';
    END IF;
    IF found_policy.retired THEN
        RAISE EXCEPTION 'policy "%" is retired: it is no longer in the configuration', found_policy.name USING ERRCODE = 'FG002',
            HINT = 'Put it back into fairgate.toml and run "fairgate apply", or stage to another policy.';
    END IF;
    id := found_policy.id;
    enabled := found_policy.enabled;
    queue := found_policy.queue;
    paused := found_policy.paused;
    key_parts := found_policy.key_parts;
    shard_parts := found_policy.shard_parts;
END $$;

-- Checks one job and computes where it belongs. `job` leads the messages ("job 3", "job").
CREATE FUNCTION fairgate.route(policy_id int, key_parts jsonb, shard_parts jsonb, queue fairgate.queue, job text,
    task text, payload json, context jsonb, partition_key text, priority int, run_at timestamptz, dedupe_key text, queue_name text, max_attempts int,
    OUT key text, OUT shard text, OUT partition_id uuid, OUT job_context jsonb)
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF task IS NULL OR task = '' THEN
        RAISE EXCEPTION '%: task is missing', job USING ERRCODE = 'FG004', HINT = 'Name the task that the queue''s worker knows.';
    ELSIF char_length(task) > queue.task_max_chars THEN
        RAISE EXCEPTION '%: task is % characters long, queue "%" takes at most %', job, char_length(task), queue.name, queue.task_max_chars
            USING ERRCODE = 'FG004';
    ELSIF payload IS NULL THEN
        RAISE EXCEPTION '%: payload is SQL NULL', job USING ERRCODE = 'FG004', HINT = 'Pass the JSON text null, or {}, if the task takes none.';
    ELSIF priority < queue.priority_min OR priority > queue.priority_max THEN
        RAISE EXCEPTION '%: priority % is out of range, queue "%" takes % to %', job, priority, queue.name, queue.priority_min, queue.priority_max
            USING ERRCODE = 'FG004';
    ELSIF max_attempts < 1 OR max_attempts > queue.max_attempts_max THEN
        RAISE EXCEPTION '%: max_attempts % is out of range, queue "%" takes 1 to %', job, max_attempts, queue.name, queue.max_attempts_max
            USING ERRCODE = 'FG004';
    ELSIF queue_name = '' THEN
        RAISE EXCEPTION '%: queue_name is empty', job USING ERRCODE = 'FG004', HINT = 'Leave it out instead.';
    ELSIF run_at IN ('infinity', '-infinity') THEN
        RAISE EXCEPTION '%: run_at is %', job, run_at USING ERRCODE = 'FG004', HINT = 'Give a time, or leave it out for now.';
    ELSIF dedupe_key IS NOT NULL THEN
        RAISE EXCEPTION '%: dedupe_key is not available yet', job USING ERRCODE = 'FG006', HINT = 'Leave it out.';
    ELSIF jsonb_typeof(context) <> 'object' THEN
        RAISE EXCEPTION '%: context is %, it must be a JSON object', job, jsonb_typeof(context) USING ERRCODE = 'FG007';
    END IF;
    -- Added for templates, unless the user set them; they stay in the job's copy.
    job_context := CASE WHEN queue_name IS NULL THEN jsonb_build_object('priority', priority)
                        ELSE jsonb_build_object('priority', priority, 'queue_name', queue_name) END || context;
    IF partition_key IS NOT NULL THEN
        key := partition_key;
    ELSIF key_parts IS NULL THEN
        RAISE EXCEPTION '%: partition_key is missing', job USING ERRCODE = 'FG003',
            HINT = 'The partition_by of this policy is computed in a program, so the key must be passed.';
    ELSE
        key := fairgate.render(key_parts, job_context, job || ': partition_by');
    END IF;
    IF key = '' THEN
        RAISE EXCEPTION '%: the partition key is empty', job USING ERRCODE = 'FG003', HINT = 'Give any non-empty text.';
    ELSIF octet_length(key) > 10000 THEN
        RAISE EXCEPTION '%: the partition key is % bytes long, at most 10000 are taken', job, octet_length(key) USING ERRCODE = 'FG003';
    END IF;
    shard := CASE WHEN shard_parts IS NULL THEN 'default' ELSE fairgate.render(shard_parts, job_context, job || ': shard_by') END;
    IF shard = '' OR octet_length(shard) > 200 THEN
        RAISE EXCEPTION '%: the shard is % bytes long, 1 to 200 are taken', job, octet_length(shard) USING ERRCODE = 'FG003';
    END IF;
    partition_id := fairgate.partition_id(policy_id, key);
END $$;

-- Wakes a sleeping ticker, if there is one and the partition looks parked. A missed wake-up costs one idle_pause.
CREATE FUNCTION fairgate.wake_for_stage(partition uuid) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM fairgate.ticker WHERE asleep)
       AND NOT EXISTS (SELECT FROM fairgate.partition_state s WHERE s.id = partition AND (s.due_at IS NOT NULL OR s.paused)) THEN
        NOTIFY fairgate;
    END IF;
END $$;

CREATE FUNCTION fairgate.stage(policy text, task text, payload json, context jsonb DEFAULT '{}', partition_key text DEFAULT NULL,
    priority int DEFAULT 0, run_at timestamptz DEFAULT NULL, dedupe_key text DEFAULT NULL, queue_name text DEFAULT NULL, max_attempts int DEFAULT NULL)
RETURNS TABLE (job_id uuid, staged boolean, outcome text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    p record;
    r record;
    seq bigint;
    ready boolean := run_at IS NULL OR run_at <= now();
BEGIN
    p := fairgate.policy_to_stage(policy);
    context := coalesce(context, '{}');
    priority := coalesce(priority, 0);
    r := fairgate.route(p.id, p.key_parts, p.shard_parts, p.queue, 'job',
        task, payload, context, partition_key, priority, run_at, dedupe_key, queue_name, max_attempts);
    seq := nextval('fairgate.job_seq');
    job_id := fairgate.job_id(now(), seq);
    IF NOT p.enabled THEN
        PERFORM fairgate.send(p.queue, policy, ARRAY[job_id], ARRAY[r.key], ARRAY[task], ARRAY[payload], ARRAY[priority],
            ARRAY[run_at], ARRAY[queue_name], ARRAY[max_attempts]);
        staged := false;
        outcome := 'sent';
        RETURN NEXT;
        RETURN;
    END IF;
    INSERT INTO fairgate.staged AS t (job_id, admission_id, partition_id, policy_id, priority, ready_at, run_at, staged_at, max_attempts, ready,
            partition_key, task, queue_name, payload, context)
    VALUES (job_id, fairgate.job_id(now(), nextval('fairgate.job_seq')), r.partition_id, p.id, priority, coalesce(run_at, now()), run_at, now(), max_attempts, ready,
            r.key, task, queue_name, payload, r.job_context);
    INSERT INTO fairgate.delta (partition_id, staged, future, policy_id, seq, key, shard, context)
    VALUES (r.partition_id, ready::int, (NOT ready)::int, p.id, seq, r.key, r.shard, context);
    IF ready AND NOT p.paused THEN
        PERFORM fairgate.wake_for_stage(r.partition_id);
    END IF;
    staged := true;
    outcome := 'staged';
    RETURN NEXT;
END $$;

-- Any number of jobs in one statement: two inserts, one delta row per partition. Arrays run in parallel.
CREATE FUNCTION fairgate.stage_rows(policy text, tasks text[], payloads json[], contexts jsonb[], partition_keys text[], priorities int[],
    run_ats timestamptz[], dedupe_keys text[], queue_names text[], max_attempts int[], first_ordinal bigint DEFAULT 1)
RETURNS TABLE (ordinal bigint, job_id uuid, staged boolean, outcome text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    p record;
BEGIN
    p := fairgate.policy_to_stage(policy);
    IF NOT p.enabled THEN
        RETURN QUERY
        WITH input AS MATERIALIZED (
            SELECT i.*, r.key, fairgate.job_id(now(), nextval('fairgate.job_seq')) AS id
              FROM unnest(tasks, payloads, contexts, partition_keys, priorities, run_ats, dedupe_keys, queue_names, stage_rows.max_attempts)
                   WITH ORDINALITY i (task, payload, context, partition_key, priority, run_at, dedupe_key, queue_name, max_attempts, n)
             CROSS JOIN LATERAL fairgate.route(p.id, p.key_parts, p.shard_parts, p.queue, 'job ' || (first_ordinal + i.n - 1), i.task, i.payload,
                   coalesce(i.context, '{}'), i.partition_key, coalesce(i.priority, 0), i.run_at, i.dedupe_key, i.queue_name, i.max_attempts) r),
        sent AS MATERIALIZED (
            SELECT fairgate.send(p.queue, policy, array_agg(id ORDER BY n), array_agg(key ORDER BY n), array_agg(task ORDER BY n),
                   array_agg(payload ORDER BY n), array_agg(coalesce(priority, 0) ORDER BY n), array_agg(run_at ORDER BY n),
                   array_agg(queue_name ORDER BY n), array_agg(max_attempts ORDER BY n)) FROM input HAVING count(*) > 0)
        SELECT first_ordinal + n - 1, id, false, 'sent' FROM input, (SELECT count(*) FROM sent) s ORDER BY n;
        RETURN;
    END IF;
    RETURN QUERY
    WITH input AS MATERIALIZED (
        SELECT i.n, i.task, i.payload, coalesce(i.context, '{}') AS context, coalesce(i.priority, 0) AS priority, i.run_at,
               i.queue_name, i.max_attempts, i.run_at IS NULL OR i.run_at <= now() AS ready, r.key, r.shard, r.partition_id, r.job_context,
               nextval('fairgate.job_seq') AS seq
          FROM unnest(tasks, payloads, contexts, partition_keys, priorities, run_ats, dedupe_keys, queue_names, stage_rows.max_attempts)
               WITH ORDINALITY i (task, payload, context, partition_key, priority, run_at, dedupe_key, queue_name, max_attempts, n)
         CROSS JOIN LATERAL fairgate.route(p.id, p.key_parts, p.shard_parts, p.queue, 'job ' || (first_ordinal + i.n - 1), i.task, i.payload,
               coalesce(i.context, '{}'), i.partition_key, coalesce(i.priority, 0), i.run_at, i.dedupe_key, i.queue_name, i.max_attempts) r),
    added AS (
        INSERT INTO fairgate.staged (job_id, admission_id, partition_id, policy_id, priority, ready_at, run_at, staged_at, max_attempts, ready,
               partition_key, task, queue_name, payload, context)
        SELECT fairgate.job_id(now(), i.seq), fairgate.job_id(now(), nextval('fairgate.job_seq')), i.partition_id, p.id, i.priority, coalesce(i.run_at, now()), i.run_at, now(), i.max_attempts, i.ready,
               i.key, i.task, i.queue_name, i.payload, i.job_context FROM input i),
    told AS (
        INSERT INTO fairgate.delta (partition_id, staged, future, policy_id, seq, key, shard, context)
        SELECT partition_id, ready_jobs, all_jobs - ready_jobs, p.id, seq, key, shard, context
          FROM (SELECT i.*, count(*) FILTER (WHERE i.ready) OVER w AS ready_jobs, count(*) OVER w AS all_jobs,
                       row_number() OVER (w ORDER BY i.seq DESC) AS newest
                  FROM input i WINDOW w AS (PARTITION BY i.partition_id)) x
         WHERE newest = 1)
    SELECT first_ordinal + i.n - 1, fairgate.job_id(now(), i.seq), true, 'staged' FROM input i ORDER BY i.n;
    IF NOT p.paused AND EXISTS (SELECT FROM fairgate.ticker WHERE asleep) THEN
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

-- Hands jobs straight to the queue (staging while disabled): the function that `apply` installed for it does the insert.
CREATE FUNCTION fairgate.send(queue fairgate.queue, policy text, job_ids uuid[], partition_keys text[], tasks text[], payloads json[],
    priorities int[], run_ats timestamptz[], queue_names text[], max_attempts int[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF NOT queue.ready THEN
        RAISE EXCEPTION 'fairgate is disabled for policy "%", so the job would go straight to queue "%", which is not ready: %',
            policy, queue.name, queue.not_ready_reason USING ERRCODE = 'FG005', HINT = 'Install the queue''s own tables, then run "fairgate apply".';
    END IF;
    EXECUTE format('SELECT fairgate.%I($1, $2, $3, $4, $5, $6, $7, $8, $9)', 'enqueue_' || queue.id)
        USING policy, job_ids, partition_keys, tasks, payloads, priorities, run_ats, queue_names, max_attempts;
END $$;

-- True if the job was still waiting here and is gone now.
CREATE FUNCTION fairgate.cancel(job_id uuid) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    gone record;
BEGIN
    DELETE FROM fairgate.staged s WHERE s.job_id = cancel.job_id RETURNING s.partition_id, s.ready INTO gone;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO fairgate.delta (partition_id, staged, future) VALUES (gone.partition_id, -gone.ready::int, -(NOT gone.ready)::int);
    RETURN true;
END $$;
