-- What is known of a job that was handed to a queue whose rows have no place for our ids. Triggers on the queue's table find it by the queue's own id.

-- One row from the admission until the queue is done with the job, and of a dead job until its row leaves the queue: then it may still be revived.
CREATE TABLE fairgate.ticket (
    -- The table of the queue, as its triggers name it.
    place text COLLATE "C" NOT NULL,
    queue_job_id text COLLATE "C" NOT NULL,
    admission_id uuid NOT NULL,
    job_id uuid NOT NULL,
    max_attempts int,
    made_at timestamptz NOT NULL DEFAULT now(),
    policy text NOT NULL,
    partition_key text NOT NULL,
    task text NOT NULL,
    queue_name text,
    dedupe_key text,
    PRIMARY KEY (place, queue_job_id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX ticket_age ON fairgate.ticket (made_at);

-- A worker began it.
CREATE FUNCTION fairgate.ticket_started(place text, queue_job_id text) RETURNS void
LANGUAGE sql AS $$
    UPDATE fairgate.in_flight f
       SET started_at = clock_timestamp(), waiting = false, lag_ms = coalesce(f.lag_ms, fairgate.lag_ms(f.admitted_at, clock_timestamp()))
      FROM fairgate.ticket t
     WHERE t.place = ticket_started.place AND t.queue_job_id = ticket_started.queue_job_id AND f.admission_id = t.admission_id AND f.started_at IS NULL
$$;

-- A worker gave it back, or the queue tries it again by itself: it waits there, and its slot is held.
CREATE FUNCTION fairgate.ticket_returned(place text, queue_job_id text) RETURNS void
LANGUAGE sql AS $$
    UPDATE fairgate.in_flight f SET started_at = NULL
      FROM fairgate.ticket t
     WHERE t.place = ticket_returned.place AND t.queue_job_id = ticket_returned.queue_job_id AND f.admission_id = t.admission_id AND f.started_at IS NOT NULL
$$;

-- The queue is done with it: success, failed or ignored. `keep`: its row stays in the queue, where it may be revived.
CREATE FUNCTION fairgate.ticket_over(place text, queue_job_id text, outcome text, keep boolean) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    admission uuid;
BEGIN
    IF keep THEN
        SELECT t.admission_id INTO admission FROM fairgate.ticket t WHERE t.place = place AND t.queue_job_id = queue_job_id;
    ELSE
        DELETE FROM fairgate.ticket t WHERE t.place = place AND t.queue_job_id = queue_job_id RETURNING t.admission_id INTO admission;
    END IF;
    PERFORM fairgate.release(admission, outcome);
END $$;

-- An attempt failed, or a dead job was revived: true if the job is back in staging, and the caller removes it from the queue. Else it waits in the queue.
CREATE FUNCTION fairgate.ticket_back(place text, queue_job_id text, payload json, priority int, run_at timestamptz, attempts int, max_attempts int,
    error text, revived boolean) RETURNS boolean
LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    ticket fairgate.ticket;
BEGIN
    SELECT t.* INTO ticket FROM fairgate.ticket t WHERE t.place = place AND t.queue_job_id = queue_job_id;
    IF fairgate.restage(ticket.admission_id, ticket.job_id, ticket.policy, ticket.partition_key, ticket.task, payload, priority, run_at,
           ticket.queue_name, attempts, coalesce(max_attempts, ticket.max_attempts), error, ticket.dedupe_key, revived) THEN
        DELETE FROM fairgate.ticket t WHERE t.place = place AND t.queue_job_id = queue_job_id;
        RETURN true;
    END IF;
    PERFORM fairgate.ticket_returned(place, queue_job_id);
    RETURN false;
END $$;

-- A uuid as the 26 characters of a ULID: the same 128 bits, five to a character.
CREATE FUNCTION fairgate.ulid(id uuid) RETURNS text
LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + substring(b.bits FROM 5 * n + 1 FOR 5)::int, 1), '' ORDER BY n)
      FROM (SELECT B'00' || ('x' || replace(id::text, '-', ''))::bit(128) AS bits) b CROSS JOIN generate_series(0, 25) n
$$;

REVOKE EXECUTE ON FUNCTION fairgate.ticket_started(text, text), fairgate.ticket_returned(text, text), fairgate.ticket_over(text, text, text, boolean),
    fairgate.ticket_back(text, text, json, int, timestamptz, int, int, text, boolean), fairgate.ulid(uuid) FROM PUBLIC;
