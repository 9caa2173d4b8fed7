-- Dedupe keys and backlog caps: what staging asks before it writes.

-- Who holds a dedupe key: a job that is staged or in flight. The id is a digest of policy and key (fairgate.dedupe_id), so that one index rules
-- over keys of any length. Of a policy that holds keys until admission, a row whose job is no longer staged is free to take.
CREATE TABLE fairgate.dedupe (
    id uuid PRIMARY KEY,
    policy_id int NOT NULL,
    key text COLLATE "C" NOT NULL CHECK (key <> '' AND octet_length(key) <= 10000),
    job_id uuid NOT NULL,
    taken_at timestamptz NOT NULL DEFAULT now()
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

-- Retries that went on without their dedupe key, because another job had taken it meanwhile.
CREATE TABLE fairgate.lost_key (
    at timestamptz NOT NULL DEFAULT now(),
    policy_id int NOT NULL,
    job_id uuid NOT NULL,
    key text NOT NULL
);
CREATE INDEX lost_key_at ON fairgate.lost_key (at);

-- Takes a dedupe key for a job, or says who holds it. Whoever commits first has it: a second transaction waits for the first to end, as for any unique key.
-- The key of a policy that holds keys until admission is free once its job is no longer staged.
CREATE FUNCTION fairgate.take_key(policy_id int, key text, job uuid, until_admitted boolean) RETURNS uuid
LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    key_id uuid := fairgate.dedupe_id(policy_id, key);
    holder uuid;
BEGIN
    LOOP
        INSERT INTO fairgate.dedupe AS d (id, policy_id, key, job_id) VALUES (key_id, policy_id, key, job) ON CONFLICT (id) DO NOTHING;
        IF FOUND THEN
            RETURN job;
        END IF;
        SELECT d.job_id INTO holder FROM fairgate.dedupe d WHERE d.id = key_id;
        -- Not there: it was given back meanwhile.
        CONTINUE WHEN NOT FOUND;
        IF holder <> job AND until_admitted AND NOT EXISTS (SELECT FROM fairgate.staged s WHERE s.job_id = holder) THEN
            UPDATE fairgate.dedupe d SET job_id = job, taken_at = now() WHERE d.id = key_id AND d.job_id = holder;
            CONTINUE WHEN NOT FOUND;
            RETURN job;
        END IF;
        RETURN holder;
    END LOOP;
END $$;

-- The key of a job that comes back into staging, if it still has it or can have it again; else none, which is counted.
CREATE FUNCTION fairgate.retake_key(policy_id int, key text, job uuid, until_admitted boolean) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    IF key IS NULL OR fairgate.take_key(policy_id, key, job, until_admitted) = job THEN
        RETURN key;
    END IF;
    INSERT INTO fairgate.lost_key (policy_id, job_id, key) VALUES (retake_key.policy_id, job, retake_key.key);
    RETURN NULL;
END $$;

-- Gives a key back. Skips a row that is being taken over at this moment: it is no longer ours then.
CREATE FUNCTION fairgate.free_key(policy_id int, key text, job uuid) RETURNS void
LANGUAGE sql AS $$
    DELETE FROM fairgate.dedupe WHERE ctid = ANY (ARRAY (
        SELECT d.ctid FROM fairgate.dedupe d WHERE d.id = fairgate.dedupe_id(free_key.policy_id, free_key.key) AND d.job_id = free_key.job
           FOR UPDATE SKIP LOCKED))
$$;

-- Puts a job into the place of one that is still staged, under the latter's id. False: that one is no longer staged, or a tick or a cancel has it
-- in hand at this moment; nobody waits for them.
CREATE FUNCTION fairgate.replace_staged(holder uuid, policy text, max_pending int, partition uuid, new_key text, new_shard text, seq bigint,
    new_task text, new_payload json, new_context jsonb, new_priority int, new_run_at timestamptz, new_queue_name text, new_max_attempts int)
RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    old record;
    is_ready boolean := new_run_at IS NULL OR new_run_at <= now();
BEGIN
    SELECT s.partition_id, s.policy_id, s.ready INTO old FROM fairgate.staged s WHERE s.job_id = holder FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE fairgate.staged
       SET partition_id = partition, partition_key = new_key, task = new_task, payload = new_payload, context = new_context, priority = new_priority,
           run_at = new_run_at, ready_at = coalesce(new_run_at, now()), ready = is_ready, queue_name = new_queue_name, max_attempts = new_max_attempts,
           staged_at = now(), attempts = 0, last_error = NULL, forward_attempts = 0, forward_error = NULL
     WHERE job_id = holder;
    INSERT INTO fairgate.delta (partition_id, staged, future, capped) VALUES (old.partition_id, -old.ready::int, -(NOT old.ready)::int, max_pending IS NOT NULL);
    INSERT INTO fairgate.delta (partition_id, staged, future, policy_id, seq, key, shard, context, capped)
    VALUES (partition, is_ready::int, (NOT is_ready)::int, old.policy_id, seq, new_key, new_shard, new_context, max_pending IS NOT NULL);
    IF old.partition_id <> partition THEN
        PERFORM fairgate.check_backlog(policy, max_pending, partition, new_key, 1);
    END IF;
    RETURN true;
END $$;

-- Refuses what went past max_pending; called when the jobs have been written. Counts what is committed, and this transaction's own: counters, and
-- reports that are not in them yet, in one snapshot. Jobs of other transactions that are open at this moment are not seen.
CREATE FUNCTION fairgate.check_backlog(policy text, max_pending int, partition uuid, key text, added bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    waiting bigint;
BEGIN
    IF max_pending IS NULL THEN
        RETURN;
    END IF;
    SELECT coalesce((SELECT s.pending + s.future FROM fairgate.partition_state s WHERE s.id = partition), 0)
         + coalesce((SELECT sum(d.staged + d.future) FROM fairgate.delta d WHERE d.partition_id = partition AND d.capped), 0) - added INTO waiting;
    IF waiting + added > max_pending THEN
        RAISE EXCEPTION 'partition "%" of policy "%" has % waiting jobs, and max_pending is %', left(key, 200), policy, waiting, max_pending
            USING ERRCODE = 'FG008', DETAIL = json_build_object('partition', key, 'count', waiting, 'limit', max_pending, 'adding', added)::text,
                  HINT = 'Stage it again later, or raise max_pending in fairgate.toml and apply it.';
    END IF;
END $$;

-- Settles the dedupe keys of a bulk call, in the order of the keys, so that two calls cannot wait for each other in a ring.
-- For every job: the one that counts, what happened, and which job's content to write under it (NULL: nothing). `ids` are the ids that new jobs get.
CREATE FUNCTION fairgate.settle_keys(policy text, p record, ids uuid[], seqs bigint[], dedupe_keys text[], keys text[], shards text[], partitions uuid[],
    tasks text[], payloads json[], contexts jsonb[], priorities int[], run_ats timestamptz[], queue_names text[], max_attempts int[],
    OUT counts uuid[], OUT outcomes text[], OUT contents int[])
LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    same record;
    n int;
    first int;
    last int;
    won uuid[];
    holder uuid;
    replaced boolean;
BEGIN
    counts := ids;
    outcomes := array_fill('staged'::text, ARRAY[cardinality(ids)]);
    contents := ARRAY (SELECT generate_series(1, cardinality(ids)));
    WITH firsts AS (
        SELECT DISTINCT ON (k.key COLLATE "C") k.key, k.id FROM unnest(dedupe_keys, ids) WITH ORDINALITY k (key, id, n) WHERE k.key IS NOT NULL ORDER BY k.key COLLATE "C", k.n),
    inserted AS (
        INSERT INTO fairgate.dedupe (id, policy_id, key, job_id)
        SELECT fairgate.dedupe_id(p.id, f.key), p.id, f.key, f.id FROM firsts f ORDER BY f.key COLLATE "C"
        ON CONFLICT (id) DO NOTHING
        RETURNING job_id)
    SELECT coalesce(array_agg(i.job_id), '{}') INTO won FROM inserted i;
    -- What is left: keys that somebody holds, and those that several jobs of this call have.
    FOR same IN
        SELECT k.key, array_agg(k.n::int ORDER BY k.n) AS ns, bool_or(w.id IS NOT NULL) AS mine
          FROM unnest(dedupe_keys, ids) WITH ORDINALITY k (key, id, n) LEFT JOIN unnest(won) w (id) ON w.id = k.id
         WHERE k.key IS NOT NULL GROUP BY k.key HAVING count(*) > 1 OR NOT bool_or(w.id IS NOT NULL) ORDER BY k.key COLLATE "C"
    LOOP
        first := same.ns[1];
        last := same.ns[cardinality(same.ns)];
        holder := CASE WHEN same.mine THEN ids[first] ELSE fairgate.take_key(p.id, same.key, ids[first], p.key_until_admitted) END;
        replaced := p.key_replaces AND (holder = ids[first] OR fairgate.replace_staged(holder, policy, p.max_pending, partitions[last], keys[last], shards[last],
            seqs[last], tasks[last], payloads[last], coalesce(contexts[last], '{}'), coalesce(priorities[last], 0), run_ats[last], queue_names[last], max_attempts[last]));
        FOREACH n IN ARRAY same.ns LOOP
            counts[n] := holder;
            contents[n] := NULL;
            outcomes[n] := CASE WHEN replaced THEN 'replaced' ELSE 'kept' END;
        END LOOP;
        IF holder = ids[first] THEN
            outcomes[first] := 'staged';
            contents[first] := CASE WHEN p.key_replaces THEN last ELSE first END;
        END IF;
    END LOOP;
END $$;

REVOKE EXECUTE ON FUNCTION fairgate.take_key(int, text, uuid, boolean), fairgate.retake_key(int, text, uuid, boolean), fairgate.free_key(int, text, uuid),
    fairgate.replace_staged(uuid, text, int, uuid, text, text, bigint, text, json, jsonb, int, timestamptz, text, int),
    fairgate.check_backlog(text, int, uuid, text, bigint),
    fairgate.settle_keys(text, record, uuid[], bigint[], text[], text[], text[], uuid[], text[], json[], jsonb[], int[], timestamptz[], text[], int[]) FROM PUBLIC;
