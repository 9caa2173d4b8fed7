-- The tables of the engine; docs/architecture.md says what each is for and whose rows may be locked by whom.
CREATE SCHEMA IF NOT EXISTS fairgate;

-- The engine-wide switch: one row.
CREATE TABLE fairgate.engine (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    enabled boolean NOT NULL DEFAULT true
);
INSERT INTO fairgate.engine DEFAULT VALUES;

-- The queues behind us. `ready` says that fairgate.enqueue_<id> exists and fits the queue's tables.
CREATE TABLE fairgate.queue (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE CHECK (name <> ''),
    kind text NOT NULL,
    schema_name text NOT NULL,
    settings jsonb NOT NULL DEFAULT '{}',
    -- Changes with what its adapter is built from: rules that were loaded for another are outdated.
    identity text NOT NULL GENERATED ALWAYS AS (kind || ':' || schema_name || ':' || md5(settings::text)) STORED,
    ready boolean NOT NULL DEFAULT false,
    not_ready_reason text,
    priority_min int NOT NULL,
    priority_max int NOT NULL,
    max_attempts_max int NOT NULL,
    task_max_chars int NOT NULL,
    -- What its tables show by themselves: started, succeeded, failed, dead, removed.
    shows text[] NOT NULL DEFAULT '{}',
    -- Jobs that it may hold and no worker has begun. NULL: fits itself to the workers; 0: any number.
    max_waiting int CHECK (max_waiting >= 0),
    -- What the fitted limit follows, refreshed about once a second; waiting is only for the next refresh.
    running int NOT NULL DEFAULT 0,
    starts_per_second float8 NOT NULL DEFAULT 0,
    waiting int NOT NULL DEFAULT 0,
    gauged_at timestamptz NOT NULL DEFAULT now(),
    -- What is installed now, so that an unchanged apply takes no lock on the queue's tables. NULL: no hooks.
    hooks_digest text,
    CHECK (ready OR not_ready_reason IS NOT NULL)
);

CREATE TABLE fairgate.policy (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE CHECK (name <> ''),
    queue_id int NOT NULL REFERENCES fairgate.queue,
    -- What the queue takes, copied from it by apply, so that staging reads one row.
    priority_min int NOT NULL,
    priority_max int NOT NULL,
    max_attempts_max int NOT NULL,
    task_max_chars int NOT NULL,
    -- What staging and the hooks read of the definition.
    restage boolean NOT NULL DEFAULT false,
    max_pending int CHECK (max_pending > 0),
    key_until_admitted boolean NOT NULL DEFAULT false,
    key_replaces boolean NOT NULL DEFAULT false,
    revision int NOT NULL CHECK (revision > 0),
    definition jsonb NOT NULL,
    -- Templates as fairgate.render reads them; NULL: computed by the producer, who must then give the key.
    key_parts jsonb,
    -- Set where the template is one key of the context and there is no shard_by: staging then needs no template.
    key_name text CHECK (key_name NOT IN ('priority', 'queue_name')),
    shard_parts jsonb,
    source text NOT NULL CHECK (source IN ('file', 'code')),
    enabled boolean NOT NULL DEFAULT true,
    paused boolean NOT NULL DEFAULT false,
    retired boolean NOT NULL DEFAULT false,
    applied_at timestamptz NOT NULL DEFAULT now()
);

-- Every definition that was ever in force, so that an older file is recognised as older.
CREATE TABLE fairgate.policy_revision (
    policy_id int NOT NULL REFERENCES fairgate.policy ON DELETE CASCADE,
    revision int NOT NULL,
    definition jsonb NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (policy_id, revision)
);

-- A lane: what one ticker serves at a time. pending and in_flight are a gauge, refreshed now and then, never a gate's number.
CREATE TABLE fairgate.shard (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    policy_id int NOT NULL REFERENCES fairgate.policy ON DELETE CASCADE,
    name text COLLATE "C" NOT NULL CHECK (name <> '' AND octet_length(name) <= 200),
    pending bigint NOT NULL DEFAULT 0,
    future bigint NOT NULL DEFAULT 0,
    in_flight bigint NOT NULL DEFAULT 0,
    gauged_at timestamptz NOT NULL DEFAULT '-infinity',
    -- Its virtual time under weighted fairness. Read without a lock; moved after a tick's commit by who holds the row's lock.
    share text NOT NULL DEFAULT '{}',
    UNIQUE (policy_id, name)
);

-- Identity and newest context of a partition: written seldom. The id is a digest of policy and key (fairgate.partition_id).
CREATE TABLE fairgate.partition (
    id uuid PRIMARY KEY,
    policy_id int NOT NULL,
    shard_id int NOT NULL,
    key text COLLATE "C" NOT NULL CHECK (key <> '' AND octet_length(key) <= 10000),
    context jsonb NOT NULL CHECK (jsonb_typeof(context) = 'object'),
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX partition_policy ON fairgate.partition (policy_id);

-- The hot row: changed only by who holds its lock (a tick, absorb, an operator). Stagers and finishers append to delta instead.
CREATE TABLE fairgate.partition_state (
    id uuid PRIMARY KEY,
    shard_id int NOT NULL,
    in_flight int NOT NULL DEFAULT 0 CHECK (in_flight >= 0),
    -- The one scheduling key. NULL: nothing to do (nothing pending, or paused). -infinity: never looked at.
    due_at timestamptz,
    -- No look before this instant can admit: a time-based gate said so.
    eligible_at timestamptz NOT NULL DEFAULT '-infinity',
    checked_at timestamptz,
    touched_at timestamptz NOT NULL,
    -- May be below zero for a moment: a cancel can be absorbed before the stage it undoes.
    pending bigint NOT NULL DEFAULT 0,
    future bigint NOT NULL DEFAULT 0,
    admitted bigint NOT NULL DEFAULT 0,
    context_seq bigint NOT NULL DEFAULT 0,
    recent float8 NOT NULL DEFAULT 0 CHECK (recent >= 0 AND recent < 'infinity'),
    recent_at timestamptz NOT NULL,
    starved boolean NOT NULL DEFAULT false,
    paused boolean NOT NULL DEFAULT false,
    denial text,
    -- Set by the sweeper: may be deleted once no transaction older than this one is left.
    removing xid8,
    gates text,
    -- Ends of jobs that the gates have not seen yet: an array of lessons; the next tick folds it into the gates' states.
    lessons jsonb,
    -- Its state under weighted fairness, and what its jobs that ended since the last look took beyond what they were charged (seconds).
    share text,
    correction float8 NOT NULL DEFAULT 0,
    finished_jobs int NOT NULL DEFAULT 0,
    finished_seconds float8 NOT NULL DEFAULT 0,
    CHECK (NOT paused OR due_at IS NULL)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX partition_due ON fairgate.partition_state (shard_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX partition_removing ON fairgate.partition_state (removing) WHERE removing IS NOT NULL;

-- Waiting jobs. ready_at is run_at, or the time of staging; ready says that it has come. admission_id is drawn for the next admission when
-- the row is written, because drawing it there costs a tick nothing.
CREATE TABLE fairgate.staged (
    job_id uuid PRIMARY KEY,
    admission_id uuid NOT NULL,
    partition_id uuid NOT NULL,
    policy_id int NOT NULL,
    priority int NOT NULL DEFAULT 0,
    ready_at timestamptz NOT NULL,
    run_at timestamptz,
    staged_at timestamptz NOT NULL,
    max_attempts int CHECK (max_attempts > 0),
    -- Attempts that the queue has made; last_error is what the last of them ended with.
    attempts int NOT NULL DEFAULT 0,
    forward_attempts smallint NOT NULL DEFAULT 0,
    ready boolean NOT NULL,
    partition_key text NOT NULL,
    task text NOT NULL CHECK (task <> ''),
    queue_name text,
    payload json NOT NULL,
    context jsonb NOT NULL,
    dedupe_key text,
    forward_error text,
    last_error text
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX staged_order ON fairgate.staged (partition_id, priority, ready_at, job_id) WHERE ready;
CREATE INDEX staged_future ON fairgate.staged (ready_at) WHERE NOT ready;
CREATE SEQUENCE fairgate.job_seq CACHE 1;

-- One row per admission until the queue is done with it. limits: what each concurrency gate allowed in that transaction.
CREATE TABLE fairgate.in_flight (
    admission_id uuid PRIMARY KEY,
    job_id uuid NOT NULL,
    partition_id uuid NOT NULL,
    policy_id int NOT NULL,
    queue_id int NOT NULL,
    admitted_at timestamptz NOT NULL,
    started_at timestamptz,
    beat_at timestamptz,
    -- Whether it counts as waiting in the queue: admitted, not begun, and the queue has a limit.
    waiting boolean NOT NULL DEFAULT false,
    -- From admission to the first start.
    lag_ms float8,
    forced boolean NOT NULL DEFAULT false,
    -- Whether the end of this job teaches a gate something.
    learns boolean NOT NULL DEFAULT false,
    queue_job_id text NOT NULL,
    dedupe_key text,
    -- Worker seconds that its partition was charged for it.
    charged float8,
    limits jsonb NOT NULL
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX in_flight_waiting ON fairgate.in_flight (queue_id) WHERE waiting;
