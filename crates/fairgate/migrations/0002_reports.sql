-- What the engine tells of itself: samples of ticks, and the tickers that run.

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
