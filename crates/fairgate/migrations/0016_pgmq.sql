-- PGMQ has a table for each queue, so what touches them names them when it runs. Our ids ride in the headers of a message as
-- {"fairgate": {"a": admission, "j": job, "policy": name, "p": partition key}}.

-- Sends the messages of one queue, and puts our triggers on its table if it is new and triggers are wanted.
CREATE FUNCTION fairgate.pgmq_send(schema_name text, queue text, messages jsonb[], headers jsonb[], at timestamptz) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    home regclass := to_regclass(format('%I.%I', schema_name, 'q_' || lower(queue)));
    sent bigint;
BEGIN
    IF home IS NULL THEN
        RAISE EXCEPTION 'there is no queue "%" in pgmq', queue USING ERRCODE = 'FG004', HINT = format('SELECT pgmq.create(%L)', queue);
    END IF;
    IF to_regprocedure('fairgate.pgmq_changed()') IS NOT NULL
       AND NOT EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = home AND t.tgname = 'fairgate_changed') THEN
        PERFORM fairgate.pgmq_hook(home);
    END IF;
    EXECUTE format('SELECT count(*) FROM %I.send_batch($1, $2, $3, $4)', schema_name) INTO sent USING queue, messages, headers, coalesce(at, clock_timestamp());
    RETURN sent;
END $$;

-- Puts our triggers on the table of a queue.
CREATE FUNCTION fairgate.pgmq_hook(home regclass) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format($sql$
        CREATE OR REPLACE TRIGGER fairgate_changed AFTER UPDATE OF read_ct ON %1$s FOR EACH ROW
            WHEN (OLD.read_ct = 0 AND NEW.read_ct > 0 AND NEW.headers ? 'fairgate') EXECUTE FUNCTION fairgate.pgmq_changed();
        CREATE OR REPLACE TRIGGER fairgate_deleted AFTER DELETE ON %1$s FOR EACH ROW
            WHEN (OLD.headers ? 'fairgate') EXECUTE FUNCTION fairgate.pgmq_changed();
        $sql$, home);
END $$;

-- Tables of queues, by the list that PGMQ keeps.
CREATE FUNCTION fairgate.pgmq_homes(schema_name text) RETURNS SETOF regclass
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY EXECUTE format('SELECT r.home FROM (SELECT to_regclass(format(''%%I.%%I'', $1, ''q_'' || lower(m.queue_name))) AS home FROM %I.meta m) r
        WHERE r.home IS NOT NULL', schema_name) USING schema_name;
END $$;

-- Which of the admissions have a message that waits or is read.
CREATE FUNCTION fairgate.pgmq_live(schema_name text, admissions uuid[]) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE AS $$
DECLARE
    home regclass;
BEGIN
    FOR home IN SELECT fairgate.pgmq_homes(schema_name) LOOP
        RETURN QUERY EXECUTE format('SELECT a FROM unnest($1) a JOIN %s m ON m.headers #>> ''{fairgate,a}'' = a::text', home) USING admissions;
    END LOOP;
END $$;

REVOKE EXECUTE ON FUNCTION fairgate.pgmq_send(text, text, jsonb[], jsonb[], timestamptz), fairgate.pgmq_hook(regclass), fairgate.pgmq_homes(text),
    fairgate.pgmq_live(text, uuid[]) FROM PUBLIC;
