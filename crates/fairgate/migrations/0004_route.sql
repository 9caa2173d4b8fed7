-- What every door of staging needs: the policy, checked, and the place where a job belongs.

-- The registered policy whose name is most like a mistyped one: at most a third of its letters differ (V. Levenshtein's distance). NULL: none is.
CREATE FUNCTION fairgate.nearest_policy(word text) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
    candidate text;
    found text;
    fewest int := greatest(1, char_length(word) / 3) + 1;
    above int[];
    here int[];
BEGIN
    IF char_length(word) > 200 THEN
        RETURN NULL;
    END IF;
    FOR candidate IN SELECT p.name FROM fairgate.policy p WHERE NOT p.retired AND abs(char_length(p.name) - char_length(word)) < fewest ORDER BY p.name LIMIT 200 LOOP
        above := ARRAY (SELECT generate_series(0, char_length(candidate)));
        FOR i IN 1 .. char_length(word) LOOP
            here := ARRAY[i];
            FOR j IN 1 .. char_length(candidate) LOOP
                here[j + 1] := least(above[j + 1] + 1, here[j] + 1,
                    above[j] + CASE WHEN lower(substr(word, i, 1)) = lower(substr(candidate, j, 1)) THEN 0 ELSE 1 END);
            END LOOP;
            above := here;
        END LOOP;
        IF above[char_length(candidate) + 1] < fewest THEN
            fewest := above[char_length(candidate) + 1];
            found := candidate;
        END IF;
    END LOOP;
    RETURN found;
END $$;

-- What staging must know of a policy, or the error that names it.
CREATE FUNCTION fairgate.policy_to_stage(name text,
    OUT id int, OUT enabled boolean, OUT paused boolean, OUT key_parts jsonb, OUT shard_parts jsonb, OUT queue text,
    OUT anybody_asleep boolean, OUT max_pending int, OUT key_until_admitted boolean, OUT key_replaces boolean, OUT priority_min int, OUT priority_max int, OUT max_attempts_max int, OUT task_max_chars int)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    retired boolean;
BEGIN
    SELECT p.id, p.enabled AND e.enabled, p.paused, p.key_parts, p.shard_parts, q.name, p.priority_min, p.priority_max, p.max_attempts_max,
           p.task_max_chars, p.max_pending, p.key_until_admitted, p.key_replaces, p.retired, EXISTS (SELECT FROM fairgate.ticker t WHERE t.asleep)
      INTO id, enabled, paused, key_parts, shard_parts, queue, priority_min, priority_max, max_attempts_max, task_max_chars, max_pending, key_until_admitted, key_replaces, retired, anybody_asleep
      FROM fairgate.policy p JOIN fairgate.queue q ON q.id = p.queue_id CROSS JOIN fairgate.engine e
     WHERE p.name = policy_to_stage.name;
    IF policy_to_stage.name IS NULL THEN
        RAISE EXCEPTION 'policy is missing: it is SQL NULL' USING ERRCODE = 'FG001', HINT = 'Name the policy that the job belongs to.';
    ELSIF id IS NULL THEN
        RAISE EXCEPTION 'policy "%" is not registered', left(policy_to_stage.name, 200) USING ERRCODE = 'FG001',
            HINT = coalesce('Did you mean "' || fairgate.nearest_policy(policy_to_stage.name) || '"? ', '') || coalesce('Registered: ' || (SELECT string_agg(x.name, ', ' ORDER BY x.name)
                              FROM (SELECT r.name FROM fairgate.policy r WHERE NOT r.retired ORDER BY r.name LIMIT 20) x) || '. ', '')
                   || 'Add it to fairgate.toml and run "fairgate apply".';
    ELSIF retired THEN
        RAISE EXCEPTION 'policy "%" is retired: it is no longer in the configuration', policy_to_stage.name USING ERRCODE = 'FG002',
            HINT = 'Put it back into fairgate.toml and run "fairgate apply", or stage to another policy.';
    END IF;
END $$;

-- Checks one job and computes where it belongs. `job` leads the messages ("job 3", "job").
CREATE FUNCTION fairgate.route(policy_id int, key_parts jsonb, shard_parts jsonb, queue text, priority_min int, priority_max int,
    max_attempts_max int, task_max_chars int, job text, task text, payload json, context jsonb, partition_key text, priority int, run_at timestamptz, dedupe_key text, queue_name text, max_attempts int,
    OUT key text, OUT shard text, OUT partition_id uuid)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    job_context jsonb;
BEGIN
    IF task IS NULL OR task = '' THEN
        RAISE EXCEPTION '%: task is missing', job USING ERRCODE = 'FG004', HINT = 'Name the task that the queue''s worker knows.';
    ELSIF char_length(task) > task_max_chars THEN
        RAISE EXCEPTION '%: task is % characters long, queue "%" takes at most %', job, char_length(task), queue, task_max_chars
            USING ERRCODE = 'FG004';
    ELSIF payload IS NULL THEN
        RAISE EXCEPTION '%: payload is SQL NULL', job USING ERRCODE = 'FG004', HINT = 'Pass the JSON text null, or {}, if the task takes none.';
    ELSIF priority < priority_min OR priority > priority_max THEN
        RAISE EXCEPTION '%: priority % is out of range, queue "%" takes % to %', job, priority, queue, priority_min, priority_max
            USING ERRCODE = 'FG004';
    ELSIF max_attempts < 1 OR max_attempts > max_attempts_max THEN
        RAISE EXCEPTION '%: max_attempts % is out of range, queue "%" takes 1 to %', job, max_attempts, queue, max_attempts_max
            USING ERRCODE = 'FG004';
    ELSIF queue_name = '' THEN
        RAISE EXCEPTION '%: queue_name is empty', job USING ERRCODE = 'FG004', HINT = 'Leave it out instead.';
    ELSIF run_at < '1970-01-01 00:00:00Z' OR run_at >= '10000-01-01 00:00:00Z' THEN
        RAISE EXCEPTION '%: run_at is %, outside of the years 1970 to 9999', job, run_at AT TIME ZONE 'UTC' USING ERRCODE = 'FG004', HINT = 'Give a time, or leave it out for now.';
    ELSIF dedupe_key = '' THEN
        RAISE EXCEPTION '%: dedupe_key is empty', job USING ERRCODE = 'FG004', HINT = 'Leave it out for no deduplication.';
    ELSIF octet_length(dedupe_key) > 10000 THEN
        RAISE EXCEPTION '%: dedupe_key is % bytes long, at most 10000 are taken', job, octet_length(dedupe_key) USING ERRCODE = 'FG004';
    ELSIF jsonb_typeof(context) <> 'object' THEN
        RAISE EXCEPTION '%: context is %, it must be a JSON object', job, jsonb_typeof(context) USING ERRCODE = 'FG007';
    END IF;
    job_context := fairgate.job_context(priority, queue_name, context);
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

-- Hands jobs straight to the queue (staging while disabled): the function that `apply` installed for it does the insert.
CREATE FUNCTION fairgate.send(policy text, job_ids uuid[], partition_keys text[], tasks text[], payloads json[],
    priorities int[], run_ats timestamptz[], queue_names text[], max_attempts int[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    queue fairgate.queue;
BEGIN
    SELECT q.* INTO queue FROM fairgate.policy p JOIN fairgate.queue q ON q.id = p.queue_id WHERE p.name = send.policy;
    IF NOT queue.ready THEN
        RAISE EXCEPTION 'fairgate is disabled for policy "%", so the job would go straight to queue "%", which is not ready: %',
            policy, queue.name, queue.not_ready_reason USING ERRCODE = 'FG005', HINT = 'Install the queue''s own tables, then run "fairgate apply".';
    END IF;
    EXECUTE format('SELECT fairgate.%I($1, $2, $3, $4, $5, $6, $7, $8, $9)', 'enqueue_' || queue.id)
        USING policy, job_ids, partition_keys, tasks, payloads, priorities, run_ats, queue_names, max_attempts;
END $$;
