-- The demo's own record, apart from everything that admits: what was staged, admitted, given back and received. Made anew by each demo.
-- Nobody else is to queue behind the triggers for long.
SET lock_timeout = '10s';
DROP SCHEMA IF EXISTS fairgate_demo CASCADE;
CREATE SCHEMA fairgate_demo;

-- What each tenant is allowed, as the demo means it. No cap, or no rate: none. place is the tenant's place in the demo's list.
CREATE TABLE fairgate_demo.rule (
    partition_id uuid PRIMARY KEY,
    place int NOT NULL UNIQUE,
    policy text NOT NULL,
    tenant text NOT NULL,
    cap bigint,
    rate_per_second bigint,
    burst bigint,
    CHECK ((rate_per_second IS NULL) = (burst IS NULL))
);

-- Written in the transaction that stages.
CREATE TABLE fairgate_demo.staged (
    job_id uuid PRIMARY KEY,
    place int NOT NULL,
    staged_at timestamptz NOT NULL DEFAULT now()
);

-- Written by a trigger in the transaction that admits. held: the partition's jobs in flight at that moment, these ones included.
CREATE TABLE fairgate_demo.admitted (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    admission_id uuid NOT NULL,
    job_id uuid NOT NULL,
    partition_id uuid NOT NULL,
    held bigint NOT NULL,
    admitted_at timestamptz NOT NULL,
    began_at timestamptz NOT NULL DEFAULT now(),
    logged_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    transaction_id xid8 NOT NULL DEFAULT pg_current_xact_id(),
    snapshot pg_snapshot NOT NULL
);

-- Written by a trigger in the transaction that gives a slot back.
CREATE TABLE fairgate_demo.released (
    admission_id uuid NOT NULL,
    released_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- What the endpoint received, a row for each time.
CREATE TABLE fairgate_demo.received (
    job_id uuid NOT NULL,
    place int NOT NULL,
    received_at timestamptz NOT NULL
);

-- The count is exact. A trigger's statement sees what its own transaction wrote and all that had been committed before the statement.
-- Admissions of one partition take turns by its row's lock, so every earlier one is committed and counted; a slot that is being given
-- back counts until that is committed. A later commit can only lower the number, never raise it: this is the most that is ever held.
CREATE FUNCTION fairgate_demo.log_admitted() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO fairgate_demo.admitted (admission_id, job_id, partition_id, held, admitted_at, snapshot)
    SELECT n.admission_id, n.job_id, n.partition_id, h.held, n.admitted_at, pg_current_snapshot()
      FROM new_rows n JOIN fairgate_demo.rule r ON r.partition_id = n.partition_id
      JOIN (SELECT f.partition_id, count(*) AS held FROM fairgate.in_flight f GROUP BY 1) h ON h.partition_id = n.partition_id;
    RETURN NULL;
END $$;

CREATE FUNCTION fairgate_demo.log_released() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO fairgate_demo.released (admission_id)
    SELECT o.admission_id FROM old_rows o JOIN fairgate_demo.rule r ON r.partition_id = o.partition_id;
    RETURN NULL;
END $$;

CREATE TRIGGER fairgate_demo_admitted AFTER INSERT ON fairgate.in_flight
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION fairgate_demo.log_admitted();
CREATE TRIGGER fairgate_demo_released AFTER DELETE ON fairgate.in_flight
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION fairgate_demo.log_released();
