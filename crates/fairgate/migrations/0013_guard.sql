-- What the Rust guards of one process report, many at once, on a connection that many jobs depend on: so nothing here waits for a row. What
-- somebody holds at this moment is said to be busy, and the caller comes again.

-- Beats of many admissions; the first is the start. Returns those that were not beaten: gone (the slot is no longer there) or busy.
CREATE FUNCTION fairgate.heartbeats(admission_ids uuid[]) RETURNS TABLE (admission_id uuid, what text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    beaten uuid[];
BEGIN
    beaten := ARRAY (SELECT f.admission_id FROM fairgate.in_flight f WHERE f.admission_id = ANY (admission_ids) ORDER BY f.admission_id FOR UPDATE SKIP LOCKED);
    UPDATE fairgate.in_flight f SET beat_at = t.now, waiting = false, started_at = coalesce(f.started_at, t.now), lag_ms = coalesce(f.lag_ms, fairgate.lag_ms(f.admitted_at, t.now))
      FROM (SELECT clock_timestamp() AS now) t WHERE f.admission_id = ANY (beaten);
    RETURN QUERY
        SELECT u.id, CASE WHEN f.admission_id IS NULL THEN 'gone' ELSE 'busy' END
          FROM unnest(admission_ids) u (id) LEFT JOIN fairgate.in_flight f ON f.admission_id = u.id
         WHERE u.id <> ALL (beaten);
END $$;

-- Ends of many admissions: success, failed or ignored; or retried: the queue will run the job again, and until then the slot is held as that of a job
-- that waits there. Returns what became of each: done, gone (it had ended before) or busy.
CREATE FUNCTION fairgate.finished_many(admission_ids uuid[], outcomes text[]) RETURNS TABLE (admission_id uuid, what text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    an_end record;
BEGIN
    FOR an_end IN SELECT u.id, u.outcome FROM unnest(admission_ids, outcomes) u (id, outcome) ORDER BY u.id LOOP
        PERFORM FROM fairgate.in_flight f WHERE f.admission_id = an_end.id FOR UPDATE SKIP LOCKED;
        IF NOT FOUND THEN
            what := CASE WHEN EXISTS (SELECT FROM fairgate.in_flight f WHERE f.admission_id = an_end.id) THEN 'busy' ELSE 'gone' END;
        ELSIF an_end.outcome = 'retried' THEN
            UPDATE fairgate.in_flight f SET started_at = NULL, beat_at = NULL WHERE f.admission_id = an_end.id;
            what := 'done';
        ELSE
            PERFORM fairgate.finished(an_end.id, an_end.outcome);
            what := 'done';
        END IF;
        admission_id := an_end.id;
        RETURN NEXT;
    END LOOP;
END $$;

REVOKE EXECUTE ON FUNCTION fairgate.heartbeats(uuid[]), fairgate.finished_many(uuid[], text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION fairgate.heartbeats(uuid[]), fairgate.finished_many(uuid[], text[]) TO PUBLIC;
