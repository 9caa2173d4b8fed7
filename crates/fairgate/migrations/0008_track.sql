-- What happens to an admission: start, beat, end. By admission id only; twice, late or unknown changes nothing.
-- An end never skips a locked row: it waits, so that no slot leaks.

CREATE FUNCTION fairgate.wake_for_release(partition uuid) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM fairgate.ticker WHERE asleep)
       AND EXISTS (SELECT FROM fairgate.partition_state s WHERE s.id = partition AND s.pending > 0 AND NOT s.paused) THEN
        NOTIFY fairgate;
    END IF;
END $$;

-- What the end of a job teaches the gates: when it was admitted (microseconds since 1970), how long it waited for its start (milliseconds, or null
-- where no start was seen), and how it ended: s success, f failed, i ignored. NULL: this job teaches nothing.
CREATE FUNCTION fairgate.lesson(f fairgate.in_flight, outcome text) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN f.learns THEN jsonb_build_array((date_part('epoch', f.admitted_at) * 1000000)::bigint, f.lag_ms, left(outcome, 1)) END
$$;

-- Worker seconds of an admission that ends now; NULL if it never began, or is not charged by time.
CREATE FUNCTION fairgate.worker_seconds(f fairgate.in_flight) RETURNS float8
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN f.charged IS NOT NULL AND f.started_at IS NOT NULL THEN greatest(0, date_part('epoch', clock_timestamp() - f.started_at)) END
$$;

-- Ends an admission: frees its slot and its dedupe key. False: it had ended before.
CREATE FUNCTION fairgate.release(admission uuid, outcome text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    freed fairgate.in_flight;
BEGIN
    DELETE FROM fairgate.in_flight f WHERE f.admission_id = admission RETURNING f.* INTO freed;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF freed.dedupe_key IS NOT NULL THEN
        PERFORM fairgate.free_key(freed.policy_id, freed.dedupe_key, freed.job_id);
    END IF;
    IF freed.scopes <> '{}' THEN
        PERFORM fairgate.free_scopes(freed.scopes);
    END IF;
    IF freed.learns OR freed.charged IS NOT NULL THEN
        INSERT INTO fairgate.delta (partition_id, released, lesson, correction, seconds)
        VALUES (freed.partition_id, 1, fairgate.lesson(freed, outcome), coalesce(fairgate.worker_seconds(freed), 0) - freed.charged,
                fairgate.worker_seconds(freed));
    ELSE
        INSERT INTO fairgate.delta (partition_id, released) VALUES (freed.partition_id, 1);
    END IF;
    PERFORM fairgate.wake_for_release(freed.partition_id);
    RETURN true;
END $$;

-- Takes a job whose attempt has failed, or that was revived after its death, back into staging, where the gates decide when it is tried again. The
-- caller removes it from the queue in the same transaction. It names the job by what the queue's row carries, because a sweep may have taken the
-- slot; the slot, if there is one, is freed. False: its retries are the queue's (policy gone,
-- retired or disabled, retry = "bypass" unless it was revived), or it waits here already.
CREATE FUNCTION fairgate.restage(admission uuid, job uuid, policy text, key text, task text, payload json, priority int, run_at timestamptz, queue_name text,
    attempts int, max_attempts int, error text, dedupe_key text, revived boolean) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    rules record;
    freed fairgate.in_flight;
    home record;
    kept_key text;
    partition uuid;
    seq bigint := nextval('fairgate.job_seq');
    is_ready boolean := run_at <= now();
BEGIN
    SELECT p.id, p.max_pending, p.key_until_admitted INTO rules FROM fairgate.policy p CROSS JOIN fairgate.engine e
     WHERE p.name = restage.policy AND (p.restage OR revived) AND p.enabled AND e.enabled AND NOT p.retired;
    IF NOT FOUND OR EXISTS (SELECT FROM fairgate.staged s WHERE s.job_id = job) THEN
        RETURN false;
    END IF;
    partition := fairgate.partition_id(rules.id, key);
    DELETE FROM fairgate.in_flight f WHERE f.admission_id = admission RETURNING f.* INTO freed;
    IF freed.scopes <> '{}' THEN
        PERFORM fairgate.free_scopes(freed.scopes);
    END IF;
    SELECT p.context, s.name AS shard INTO home FROM fairgate.partition p JOIN fairgate.shard s ON s.id = p.shard_id WHERE p.id = partition;
    kept_key := fairgate.retake_key(rules.id, dedupe_key, job, rules.key_until_admitted);
    INSERT INTO fairgate.staged (job_id, admission_id, partition_id, policy_id, priority, ready_at, run_at, staged_at, max_attempts, attempts, ready,
           partition_key, task, queue_name, payload, context, dedupe_key, last_error)
    VALUES (job, fairgate.admission_id(now(), seq), partition, rules.id, priority, run_at, run_at, now(), max_attempts, attempts, is_ready,
            key, task, queue_name, payload, coalesce(home.context, '{}'), kept_key, error);
    -- The sequence is left out: an attempt's end is no news of the context.
    INSERT INTO fairgate.delta (partition_id, staged, future, released, policy_id, key, shard, context, capped, lesson, correction, seconds)
    VALUES (partition, is_ready::int, (NOT is_ready)::int, (freed.admission_id IS NOT NULL)::int, rules.id, key, coalesce(home.shard, 'default'),
            coalesce(home.context, '{}'), rules.max_pending IS NOT NULL, fairgate.lesson(freed, 'failed'),
            coalesce(fairgate.worker_seconds(freed), 0) - freed.charged, fairgate.worker_seconds(freed));
    PERFORM fairgate.wake_for_release(partition);
    RETURN true;
END $$;

-- Milliseconds from one instant to another, never below zero.
CREATE FUNCTION fairgate.lag_ms(admitted timestamptz, started timestamptz) RETURNS float8
LANGUAGE sql STABLE AS $$ SELECT greatest(0, date_part('epoch', started - admitted) * 1000) $$;

CREATE FUNCTION fairgate.started(admission_id uuid) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE fairgate.in_flight f SET started_at = t.now, waiting = false, lag_ms = coalesce(f.lag_ms, fairgate.lag_ms(f.admitted_at, t.now))
      FROM (SELECT clock_timestamp() AS now) t WHERE f.admission_id = started.admission_id AND f.started_at IS NULL;
    RETURN FOUND;
END $$;

CREATE FUNCTION fairgate.heartbeat(admission_id uuid) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE fairgate.in_flight f SET beat_at = t.now, waiting = false, started_at = coalesce(f.started_at, t.now), lag_ms = coalesce(f.lag_ms, fairgate.lag_ms(f.admitted_at, t.now))
      FROM (SELECT clock_timestamp() AS now) t WHERE f.admission_id = heartbeat.admission_id;
    RETURN FOUND;
END $$;

CREATE FUNCTION fairgate.finished(admission_id uuid, outcome text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF outcome IS NULL OR outcome NOT IN ('success', 'failed', 'ignored') THEN
        RAISE EXCEPTION 'outcome is %, it must be success, failed or ignored', coalesce('"' || outcome || '"', 'NULL') USING ERRCODE = 'FG004';
    END IF;
    RETURN fairgate.release(admission_id, outcome);
END $$;
