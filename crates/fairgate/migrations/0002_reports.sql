-- What the engine tells of itself: samples of ticks, the tickers that run, and the jobs that it had to set aside.

CREATE TABLE fairgate.tick_sample (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL,
    shard_id int NOT NULL,
    duration interval NOT NULL,
    partitions_seen int NOT NULL,
    partitions_admitted int NOT NULL,
    partitions_denied int NOT NULL,
    jobs_admitted int NOT NULL,
    failures int NOT NULL,
    pending bigint NOT NULL,
    in_flight bigint NOT NULL,
    denials jsonb NOT NULL
);
CREATE INDEX tick_sample_at ON fairgate.tick_sample (at);

-- Running tickers. asleep tells stagers and finishers that a notification is worth its price.
CREATE TABLE fairgate.ticker (
    id uuid PRIMARY KEY,
    asleep boolean NOT NULL DEFAULT false,
    seen_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz NOT NULL DEFAULT now(),
    serves text NOT NULL
) WITH (fillfactor = 30);

-- Jobs that the queue refused max_forward_attempts times, whole, with the last error.
CREATE TABLE fairgate.quarantined (
    job_id uuid PRIMARY KEY,
    partition_id uuid NOT NULL,
    policy_id int NOT NULL,
    partition_key text NOT NULL,
    priority int NOT NULL,
    run_at timestamptz,
    staged_at timestamptz NOT NULL,
    max_attempts int,
    task text NOT NULL,
    queue_name text,
    payload json NOT NULL,
    context jsonb NOT NULL,
    attempts int NOT NULL DEFAULT 0,
    dedupe_key text,
    forward_attempts smallint NOT NULL,
    error text NOT NULL,
    quarantined_at timestamptz NOT NULL
);
