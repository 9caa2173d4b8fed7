
-- A row of another table says what becomes of the job that it names.
CREATE OR REPLACE FUNCTION fairgate.{function}_{number}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $fairgate$
BEGIN
    BEGIN
        PERFORM {call};
    EXCEPTION WHEN OTHERS THEN
        RAISE WARNING 'fairgate: what became of job % was not recorded: %', {row}."{job}", SQLERRM;
    END;
    RETURN NULL;
END $fairgate$;

REVOKE EXECUTE ON FUNCTION fairgate.{function}_{number}() FROM PUBLIC;

CREATE OR REPLACE TRIGGER fairgate_sign_{number} AFTER {event} ON {other} FOR EACH ROW EXECUTE FUNCTION fairgate.{function}_{number}();
