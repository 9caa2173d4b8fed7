-- Staging one job, and taking one back, for every language. stage_rows, stage_many and this write the same rows by the same rules.
-- Nothing here takes a lock that another key could take in the other order, and nothing waits for a ticker.
-- SECURITY DEFINER: a producer needs USAGE on schema fairgate and nothing else.

CREATE FUNCTION fairgate.stage(policy text, task text, payload json, context jsonb DEFAULT '{}', partition_key text DEFAULT NULL,
    priority int DEFAULT 0, run_at timestamptz DEFAULT NULL, dedupe_key text DEFAULT NULL, queue_name text DEFAULT NULL, max_attempts int DEFAULT NULL)
RETURNS TABLE (job_id uuid, staged boolean, outcome text)
LANGUAGE plpgsql ROWS 1 SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    p record;
    r record;
    policy_id int;
    asleep boolean;
    holder uuid;
    max_pending int;
    key text;
    shard text := 'default';
    partition_id uuid;
    seq bigint := nextval('fairgate.job_seq');
    ready boolean := run_at IS NULL OR run_at <= now();
BEGIN
    -- The common case, judged in one row and one condition: an enabled policy without a backlog cap that partitions by one string of the
    -- context, and a job in range without a dedupe key.
    -- Whatever does not fit it, errors included, goes the long way below, which computes the same.
    SELECT pol.id, context ->> pol.key_name, NOT pol.paused AND EXISTS (SELECT FROM fairgate.ticker t WHERE t.asleep) INTO policy_id, key, asleep
      FROM fairgate.policy pol
     WHERE pol.name = policy AND pol.max_pending IS NULL AND pol.enabled AND NOT pol.retired AND EXISTS (SELECT FROM fairgate.engine e WHERE e.enabled)
       AND priority BETWEEN pol.priority_min AND pol.priority_max AND char_length(task) BETWEEN 1 AND pol.task_max_chars
       AND (max_attempts IS NULL OR max_attempts BETWEEN 1 AND pol.max_attempts_max)
       AND jsonb_typeof(context -> pol.key_name) = 'string';
    IF octet_length(key) BETWEEN 1 AND 10000 AND partition_key IS NULL AND dedupe_key IS NULL AND queue_name IS NULL AND payload IS NOT NULL
       AND (run_at IS NULL OR run_at >= '1970-01-01 00:00:00Z' AND run_at < '10000-01-01 00:00:00Z') THEN
        partition_id := fairgate.partition_id(policy_id, key);
    ELSE
        p := fairgate.policy_to_stage(policy);
        context := coalesce(context, '{}');
        priority := coalesce(priority, 0);
        r := fairgate.route(p.id, p.key_parts, p.shard_parts, p.queue, p.priority_min, p.priority_max, p.max_attempts_max, p.task_max_chars, 'job',
            task, payload, context, partition_key, priority, run_at, dedupe_key, queue_name, max_attempts);
        policy_id := p.id;
        asleep := p.anybody_asleep AND NOT p.paused;
        key := r.key;
        shard := r.shard;
        partition_id := r.partition_id;
        job_id := fairgate.job_id(now(), seq);
        IF NOT p.enabled THEN
            PERFORM fairgate.send(policy, ARRAY[job_id], ARRAY[key], ARRAY[task], ARRAY[payload], ARRAY[priority],
                ARRAY[run_at], ARRAY[queue_name], ARRAY[max_attempts]);
            staged := false;
            outcome := 'sent';
            RETURN NEXT;
            RETURN;
        END IF;
        IF dedupe_key IS NOT NULL THEN
            holder := fairgate.take_key(policy_id, dedupe_key, job_id, p.key_until_admitted);
            IF holder <> job_id THEN
                job_id := holder;
                staged := false;
                outcome := CASE WHEN p.key_replaces AND fairgate.replace_staged(holder, policy, p.max_pending, partition_id, key, shard, seq, task,
                    payload, context, priority, run_at, queue_name, max_attempts) THEN 'replaced' ELSE 'kept' END;
                RETURN NEXT;
                RETURN;
            END IF;
        END IF;
        max_pending := p.max_pending;
    END IF;
    job_id := fairgate.job_id(now(), seq);
    INSERT INTO fairgate.staged AS t (job_id, admission_id, partition_id, policy_id, priority, ready_at, run_at, staged_at, max_attempts, ready,
            partition_key, task, queue_name, payload, context, dedupe_key)
    VALUES (job_id, fairgate.admission_id(now(), seq), partition_id, policy_id, priority, coalesce(run_at, now()), run_at, now(),
            max_attempts, ready, key, task, queue_name, payload, context, dedupe_key);
    INSERT INTO fairgate.delta (partition_id, staged, future, policy_id, seq, key, shard, context, capped)
    VALUES (partition_id, ready::int, (NOT ready)::int, policy_id, seq, key, shard, context, max_pending IS NOT NULL);
    IF max_pending IS NOT NULL THEN
        PERFORM fairgate.check_backlog(policy, max_pending, partition_id, key, 1);
    END IF;
    -- Wakes a sleeping ticker, if there is one and the partition looks parked. A missed wake-up costs one idle_pause.
    IF asleep AND ready
       AND NOT EXISTS (SELECT FROM fairgate.partition_state s WHERE s.id = partition_id AND (s.due_at IS NOT NULL OR s.paused)) THEN
        NOTIFY fairgate;
    END IF;
    staged := true;
    outcome := 'staged';
    RETURN NEXT;
END $$;

-- True if the job was still waiting here and is gone now.
CREATE FUNCTION fairgate.cancel(job_id uuid) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    gone record;
BEGIN
    DELETE FROM fairgate.staged s WHERE s.job_id = cancel.job_id RETURNING s.partition_id, s.policy_id, s.ready, s.dedupe_key INTO gone;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO fairgate.delta (partition_id, staged, future, capped)
    VALUES (gone.partition_id, -gone.ready::int, -(NOT gone.ready)::int,
            EXISTS (SELECT FROM fairgate.policy p WHERE p.id = gone.policy_id AND p.max_pending IS NOT NULL));
    IF gone.dedupe_key IS NOT NULL THEN
        PERFORM fairgate.free_key(gone.policy_id, gone.dedupe_key, job_id);
    END IF;
    RETURN true;
END $$;
