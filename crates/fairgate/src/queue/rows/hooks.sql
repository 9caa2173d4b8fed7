-- One function for every change of a row: it compares what the row was with what it is. It runs as whatever role the worker has (SECURITY DEFINER)
-- and never raises: a hook that raises kills workers. What it swallows, the sweep repairs. Rows without a ticket are somebody else's.
CREATE OR REPLACE FUNCTION fairgate.{function}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $fairgate$
#variable_conflict use_column
DECLARE
    place CONSTANT text := {place};
    queue_id text := {old_id};
    was text;
    becomes text;
    attempts_before int;
    back record;
    row_now {table}%ROWTYPE;
BEGIN
    BEGIN
        IF NOT EXISTS (SELECT FROM fairgate.ticket t WHERE t.place = {place} AND t.queue_job_id = {old_id}) THEN
            RETURN NULL;
        END IF;
        SELECT {state} INTO was FROM (SELECT OLD.*) r;
        IF TG_OP = 'UPDATE' THEN
            row_now := NEW;
        ELSE
            -- Queues that rewrite a row delete it and insert it again in one statement, which is over when this runs.
            SELECT r.* INTO row_now FROM {table} r WHERE {same};
            IF NOT FOUND THEN
                PERFORM fairgate.ticket_over(place, queue_id, CASE WHEN was = 'running' THEN '{deleted_running}' ELSE 'ignored' END, false);
                RETURN NULL;
            END IF;
        END IF;
        SELECT {state} INTO becomes FROM (SELECT row_now.*) r;
        IF becomes = was THEN
            RETURN NULL;
        ELSIF becomes = 'running' THEN
            PERFORM fairgate.ticket_started(place, queue_id);
        ELSIF becomes = 'succeeded' THEN
            PERFORM fairgate.ticket_over(place, queue_id, 'success', false);
        ELSIF becomes = 'dead' THEN
            PERFORM fairgate.ticket_over(place, queue_id, 'failed', true);
        ELSIF becomes = 'removed' THEN
            PERFORM fairgate.ticket_over(place, queue_id, 'ignored', true);
        ELSE
{waiting}
        END IF;
    EXCEPTION WHEN OTHERS THEN
        RAISE WARNING 'fairgate: what became of job % was not recorded: %', queue_id, SQLERRM;
    END;
    RETURN NULL;
END $fairgate$;

REVOKE EXECUTE ON FUNCTION fairgate.{function}() FROM PUBLIC;

CREATE OR REPLACE TRIGGER {prefix}fairgate_changed AFTER UPDATE{of_columns} ON {table} FOR EACH ROW{when} EXECUTE FUNCTION fairgate.{function}();
CREATE OR REPLACE TRIGGER {prefix}fairgate_deleted AFTER DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION fairgate.{function}();
