-- The functions look only at the admission id in the row's flags, so one set serves every schema. They run as whatever role the worker has
-- (SECURITY DEFINER) and never raise: a hook that raises kills workers. What one swallows, the sweep repairs.
CREATE OR REPLACE FUNCTION fairgate.graphile_worker_started() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    BEGIN
        -- As fairgate.started, in place: this runs for every job.
        UPDATE fairgate.in_flight f
           SET started_at = clock_timestamp(), waiting = false, lag_ms = coalesce(f.lag_ms, fairgate.lag_ms(f.admitted_at, clock_timestamp()))
         WHERE f.admission_id = (NEW.flags #>> '{fairgate,a}')::uuid AND f.started_at IS NULL;
    EXCEPTION WHEN OTHERS THEN
        RAISE WARNING 'fairgate: the start of job % was not recorded: %', NEW.id, SQLERRM;
    END;
    RETURN NULL;
END $$;

-- An unlock with its attempts used up is the final death. One that gives an attempt back is a worker that never began. Any other is a failed
-- attempt, or a dead job that was revived: it goes back into staging, or else waits in the queue, and its slot is held.
CREATE OR REPLACE FUNCTION fairgate.graphile_worker_unlocked() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    mark jsonb := NEW.flags -> 'fairgate';
    -- Dead before, and not in its last attempt: that one is locked.
    revived boolean := OLD.locked_at IS NULL AND OLD.attempts >= OLD.max_attempts;
    task text;
BEGIN
    BEGIN
        IF NEW.attempts >= NEW.max_attempts THEN
            PERFORM fairgate.release((mark ->> 'a')::uuid, 'failed');
            RETURN NULL;
        ELSIF NEW.attempts >= OLD.attempts OR revived THEN
            EXECUTE format('SELECT identifier FROM %I._private_tasks WHERE id = $1', TG_TABLE_SCHEMA) INTO task USING NEW.task_id;
            IF fairgate.restage((mark ->> 'a')::uuid, (mark ->> 'j')::uuid, mark ->> 'policy', mark ->> 'p', task, NEW.payload, NEW.priority, NEW.run_at,
                   mark ->> 'q', NEW.attempts, NEW.max_attempts, NEW.last_error, mark ->> 'k', revived) THEN
                EXECUTE format('DELETE FROM %I._private_jobs WHERE id = $1', TG_TABLE_SCHEMA) USING NEW.id;
                RETURN NULL;
            END IF;
        END IF;
        UPDATE fairgate.in_flight SET started_at = NULL WHERE admission_id = (mark ->> 'a')::uuid AND started_at IS NOT NULL;
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
        PERFORM fairgate.release((OLD.flags #>> '{fairgate,a}')::uuid, CASE WHEN OLD.locked_at IS NULL THEN 'ignored' ELSE 'success' END);
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
