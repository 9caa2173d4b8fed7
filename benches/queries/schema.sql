CREATE SCHEMA bench;
CREATE SEQUENCE bench.lean_id_seq;
CREATE TABLE bench.lean (id bigint PRIMARY KEY, task text NOT NULL, payload json NOT NULL, priority int NOT NULL, run_at timestamptz NOT NULL,
    admission_id uuid, job_id uuid);
CREATE INDEX lean_order ON bench.lean (priority, run_at);
-- The same rows in a table of the same make, for moving without any policy.
CREATE TABLE bench.raw_staged (LIKE fairgate.staged INCLUDING ALL);
