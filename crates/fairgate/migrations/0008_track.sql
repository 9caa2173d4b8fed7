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

CREATE FUNCTION fairgate.release(admission uuid) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    freed uuid;
BEGIN
    DELETE FROM fairgate.in_flight f WHERE f.admission_id = admission RETURNING f.partition_id INTO freed;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO fairgate.delta (partition_id, released) VALUES (freed, 1);
    PERFORM fairgate.wake_for_release(freed);
    RETURN true;
END $$;

CREATE FUNCTION fairgate.started(admission_id uuid) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE fairgate.in_flight f SET started_at = clock_timestamp() WHERE f.admission_id = started.admission_id AND f.started_at IS NULL;
    RETURN FOUND;
END $$;

CREATE FUNCTION fairgate.heartbeat(admission_id uuid) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE fairgate.in_flight f SET beat_at = clock_timestamp(), started_at = coalesce(f.started_at, clock_timestamp())
     WHERE f.admission_id = heartbeat.admission_id;
    RETURN FOUND;
END $$;

CREATE FUNCTION fairgate.finished(admission_id uuid, outcome text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF outcome IS NULL OR outcome NOT IN ('success', 'failed', 'ignored') THEN
        RAISE EXCEPTION 'outcome is %, it must be success, failed or ignored', coalesce('"' || outcome || '"', 'NULL') USING ERRCODE = 'FG004';
    END IF;
    RETURN fairgate.release(admission_id);
END $$;
