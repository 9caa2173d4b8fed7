-- What the torture remembers by itself, beside the engine's tables. Nothing here has a unique index that a tick could trip over.
CREATE SCHEMA torture;

-- Jobs, written in the very transaction that staged or cancelled them: what is here was committed.
CREATE TABLE torture.staged (job_id uuid NOT NULL, policy text NOT NULL, run_at timestamptz);
CREATE TABLE torture.cancelled (job_id uuid NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp());

-- Runs that did what they should, written before the worker tells the queue.
CREATE TABLE torture.success (job_id uuid NOT NULL, attempt int NOT NULL);

-- Processes that work for the queue: the id they lock jobs with, and the name their connections bear.
CREATE TABLE torture.worker (worker_id text NOT NULL, application_name text NOT NULL);

-- Every admission, by trigger. xid: the transaction, which is one tick of one lane.
CREATE TABLE torture.admission (
    job_id uuid NOT NULL,
    partition_id uuid NOT NULL,
    -- Attempts that were made before it.
    attempts int NOT NULL,
    -- Past the gates, by an operator.
    forced boolean NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    xid xid8 NOT NULL DEFAULT pg_current_xact_id()
);

-- Every look at a throttled partition, by trigger, with the parameters in force in that transaction (jobs, jobs per second).
-- Drawn under the partition's lock, so ids are in the order of the looks. NULL: the parameter cannot be read. fresh: a new bucket.
CREATE TABLE torture.look (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    partition_id uuid NOT NULL,
    gate text NOT NULL,
    at timestamptz NOT NULL,
    fresh boolean NOT NULL,
    rate float8,
    burst float8,
    -- Not a look of a tick, but the end of an override before it.
    ended boolean NOT NULL,
    xid xid8 NOT NULL DEFAULT pg_current_xact_id()
);

-- Partitions that the sweep removed.
CREATE TABLE torture.removal (partitions bigint NOT NULL);

-- What no admission may do, by trigger, in the transaction that did it.
CREATE TABLE torture.violation (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    fault text NOT NULL,
    detail text NOT NULL
);
