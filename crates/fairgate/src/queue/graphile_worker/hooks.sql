-- The functions look only at the admission id in the row's flags, so one set serves every schema. They run as whatever role the worker has
-- (SECURITY DEFINER) and never raise: a hook that raises kills workers. What one swallows, the sweep repairs.
CREATE OR REPLACE FUNCTION fairgate.graphile_worker_started() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    BEGIN
        UPDATE fairgate.in_flight SET started_at = clock_timestamp()
         WHERE admission_id = (NEW.flags #>> '{fairgate,a}')::uuid AND started_at IS NULL;
    EXCEPTION WHEN OTHERS THEN
        RAISE WARNING 'fairgate: the start of job % was not recorded: %', NEW.id, SQLERRM;
    END;
    RETURN NULL;
END $$;

-- An unlock with its attempts used up is the final death; any other leaves the job waiting in the queue, and its slot held.
CREATE OR REPLACE FUNCTION fairgate.graphile_worker_unlocked() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    BEGIN
        IF NEW.attempts >= NEW.max_attempts THEN
            PERFORM fairgate.release((NEW.flags #>> '{fairgate,a}')::uuid);
        ELSE
            UPDATE fairgate.in_flight SET started_at = NULL
             WHERE admission_id = (NEW.flags #>> '{fairgate,a}')::uuid AND started_at IS NOT NULL;
        END IF;
    EXCEPTION WHEN OTHERS THEN
        RAISE WARNING 'fairgate: the end of job % was not recorded: %', NEW.id, SQLERRM;
    END;
    RETURN NULL;
END $$;

-- Completed, removed by hand or purged: in every case the queue is done with it.
CREATE OR REPLACE FUNCTION fairgate.graphile_worker_deleted() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    BEGIN
        PERFORM fairgate.release((OLD.flags #>> '{fairgate,a}')::uuid);
    EXCEPTION WHEN OTHERS THEN
        RAISE WARNING 'fairgate: the end of job % was not recorded: %', OLD.id, SQLERRM;
    END;
    RETURN NULL;
END $$;

REVOKE EXECUTE ON FUNCTION fairgate.graphile_worker_started(), fairgate.graphile_worker_unlocked(), fairgate.graphile_worker_deleted() FROM PUBLIC;

CREATE OR REPLACE TRIGGER fairgate_started AFTER UPDATE OF locked_at ON {schema}._private_jobs FOR EACH ROW
    WHEN (OLD.locked_at IS NULL AND NEW.locked_at IS NOT NULL AND NEW.flags ? 'fairgate')
    EXECUTE FUNCTION fairgate.graphile_worker_started();
CREATE OR REPLACE TRIGGER fairgate_unlocked AFTER UPDATE OF locked_at, attempts, max_attempts ON {schema}._private_jobs FOR EACH ROW
    WHEN (NEW.locked_at IS NULL AND (OLD.locked_at IS NOT NULL OR (OLD.attempts >= OLD.max_attempts) <> (NEW.attempts >= NEW.max_attempts))
          AND NEW.flags ? 'fairgate')
    EXECUTE FUNCTION fairgate.graphile_worker_unlocked();
CREATE OR REPLACE TRIGGER fairgate_deleted AFTER DELETE ON {schema}._private_jobs FOR EACH ROW
    WHEN (OLD.flags ? 'fairgate')
    EXECUTE FUNCTION fairgate.graphile_worker_deleted();
