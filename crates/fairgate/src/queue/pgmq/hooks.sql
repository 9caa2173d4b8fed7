-- Read for the first time, or gone: deleted and archived alike. A message that nobody has read was removed by hand, or popped. They never raise: a
-- hook that raises kills workers. What one swallows, the sweep repairs.
CREATE OR REPLACE FUNCTION fairgate.pgmq_changed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    BEGIN
        IF TG_OP = 'UPDATE' THEN
            PERFORM fairgate.started((NEW.headers #>> '{fairgate,a}')::uuid);
        ELSE
            PERFORM fairgate.release((OLD.headers #>> '{fairgate,a}')::uuid, CASE WHEN OLD.read_ct = 0 THEN 'ignored' ELSE 'success' END);
        END IF;
    EXCEPTION WHEN OTHERS THEN
        RAISE WARNING 'fairgate: what became of message % was not recorded: %', OLD.msg_id, SQLERRM;
    END;
    RETURN NULL;
END $$;

REVOKE EXECUTE ON FUNCTION fairgate.pgmq_changed() FROM PUBLIC;

-- Only where they are not: a table that has them needs no lock.
SELECT fairgate.pgmq_hook(home) FROM fairgate.pgmq_homes({text}) home
 WHERE 2 > (SELECT count(*) FROM pg_catalog.pg_trigger t WHERE t.tgrelid = home AND t.tgname LIKE 'fairgate\_%' AND t.tgenabled IN ('O', 'A'));
