-- Unlike those of a real queue these raise, so that a fault of ours fails the test instead of being repaired by a sweep.
CREATE OR REPLACE FUNCTION fairgate.testing_table_started() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM fairgate.started(NEW.admission_id);
    RETURN NULL;
END $$;

-- Died, or goes back to wait: after a failed attempt, or revived.
CREATE OR REPLACE FUNCTION fairgate.testing_table_ended() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NEW.state = 'dead' THEN
        PERFORM fairgate.release(NEW.admission_id, 'failed');
    ELSIF fairgate.restage(NEW.admission_id, NEW.job_id, NEW.policy, NEW.partition_key, NEW.task, NEW.payload, NEW.priority, NEW.run_at, NEW.queue_name,
              NEW.attempts, NEW.max_attempts, NEW.last_error, NEW.dedupe_key, OLD.state = 'dead') THEN
        EXECUTE format('DELETE FROM %I.jobs WHERE id = $1', TG_TABLE_SCHEMA) USING NEW.id;
    ELSE
        UPDATE fairgate.in_flight SET started_at = NULL WHERE admission_id = NEW.admission_id AND started_at IS NOT NULL;
    END IF;
    RETURN NULL;
END $$;

-- Completed, or removed before it began.
CREATE OR REPLACE FUNCTION fairgate.testing_table_deleted() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM fairgate.release(OLD.admission_id, CASE OLD.state WHEN 'running' THEN 'success' ELSE 'ignored' END);
    RETURN NULL;
END $$;

REVOKE EXECUTE ON FUNCTION fairgate.testing_table_started(), fairgate.testing_table_ended(), fairgate.testing_table_deleted() FROM PUBLIC;

CREATE OR REPLACE TRIGGER fairgate_started AFTER UPDATE OF state ON {schema}.jobs FOR EACH ROW
    WHEN (OLD.state = 'waiting' AND NEW.state = 'running' AND NEW.admission_id IS NOT NULL)
    EXECUTE FUNCTION fairgate.testing_table_started();
CREATE OR REPLACE TRIGGER fairgate_ended AFTER UPDATE OF state ON {schema}.jobs FOR EACH ROW
    WHEN (OLD.state <> NEW.state AND NEW.state <> 'running' AND NEW.admission_id IS NOT NULL)
    EXECUTE FUNCTION fairgate.testing_table_ended();
CREATE OR REPLACE TRIGGER fairgate_deleted AFTER DELETE ON {schema}.jobs FOR EACH ROW
    WHEN (OLD.admission_id IS NOT NULL)
    EXECUTE FUNCTION fairgate.testing_table_deleted();
