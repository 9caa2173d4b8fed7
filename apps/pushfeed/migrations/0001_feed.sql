-- The feed: where it is polled, each contact, what it brought, and who and what that mentions.

-- A place that is polled. Written only under its session lock. The parts of the schedule are kept apart; none is folded into another.
CREATE TABLE pushfeed.source (
    name text PRIMARY KEY,
    -- Null: in service. Else why it is out of service until an operator acts.
    out_of_service text,
    etag text,
    last_finished_at timestamptz,
    last_succeeded_at timestamptz,
    floor_seconds int CHECK (floor_seconds >= 0),
    floor_until timestamptz,
    failures int NOT NULL DEFAULT 0 CHECK (failures >= 0),
    backoff_until timestamptz
);
INSERT INTO pushfeed.source (name) VALUES ('events');

-- A poll that contacted GitHub.
CREATE TABLE pushfeed.run (
    id uuid PRIMARY KEY,
    source text NOT NULL REFERENCES pushfeed.source,
    forced boolean NOT NULL,
    started_at timestamptz NOT NULL,
    finished_at timestamptz,
    outcome text CHECK (outcome IN ('succeeded', 'not_modified', 'limited', 'failed', 'refused', 'interrupted')),
    error text,
    pages int NOT NULL DEFAULT 0,
    seen int NOT NULL DEFAULT 0,
    created int NOT NULL DEFAULT 0,
    duplicates int NOT NULL DEFAULT 0,
    quarantined int NOT NULL DEFAULT 0,
    ignored int NOT NULL DEFAULT 0,
    failed int NOT NULL DEFAULT 0,
    reactivated int NOT NULL DEFAULT 0,
    CHECK ((finished_at IS NULL) = (outcome IS NULL))
);
CREATE INDEX run_unfinished ON pushfeed.run (source) WHERE finished_at IS NULL;
CREATE INDEX run_succeeded ON pushfeed.run (finished_at) WHERE outcome IN ('succeeded', 'not_modified');

-- A push. GitHub used ids again, so its id alone names nothing; ours does.
CREATE TABLE pushfeed.push_event (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    github_id bigint NOT NULL,
    created_at timestamptz NOT NULL,
    received_at timestamptz NOT NULL,
    run_id uuid,
    actor_id bigint NOT NULL,
    repository_id bigint NOT NULL,
    push_id bigint,
    ref text NOT NULL,
    head text NOT NULL CHECK (head ~ '^([0-9a-fA-F]{40}|[0-9a-fA-F]{64})$'),
    before text CHECK (before ~ '^([0-9a-fA-F]{40}|[0-9a-fA-F]{64})$'),
    public boolean,
    -- As it came, byte for byte.
    raw json NOT NULL,
    CONSTRAINT one_event_is_one_row UNIQUE (github_id, created_at)
);
CREATE INDEX push_event_actor ON pushfeed.push_event (actor_id, id);
CREATE INDEX push_event_repository ON pushfeed.push_event (repository_id, id);

-- A bad event, once for each body, however often it came.
CREATE TABLE pushfeed.quarantined_event (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    fingerprint bytea NOT NULL UNIQUE CHECK (octet_length(fingerprint) = 32),
    code text NOT NULL CHECK (code <> ''),
    detail text NOT NULL,
    raw json NOT NULL,
    occurrence_count bigint NOT NULL DEFAULT 1 CHECK (occurrence_count >= 1),
    first_received_at timestamptz NOT NULL,
    last_received_at timestamptz NOT NULL,
    run_id uuid
);

-- An actor or a repository: what events said of it, and its document once that was fetched.
CREATE TABLE pushfeed.entity (
    kind text NOT NULL CHECK (kind IN ('actor', 'repository')),
    id bigint NOT NULL,
    login text,
    display_login text,
    avatar_url text,
    full_name text,
    name text,
    api_url text,
    state text NOT NULL DEFAULT 'pending'
        CHECK (state IN ('pending', 'complete', 'retryable_failure', 'permanent_failure', 'skipped_budget')),
    attempts int NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    last_error text,
    document json,
    fetched_at timestamptz,
    -- May not be tried before: a lease, a back-off or a deferral.
    next_retry_at timestamptz,
    -- When a search did not find it: since then it is asked for alone. Null: no search did.
    not_found_at timestamptz,
    created_at timestamptz NOT NULL,
    first_seen_at timestamptz,
    last_seen_at timestamptz,
    latest_event_at timestamptz,
    PRIMARY KEY (kind, id),
    CONSTRAINT a_complete_entity_was_fetched CHECK (state <> 'complete' OR (fetched_at IS NOT NULL AND document IS NOT NULL)),
    CONSTRAINT an_actor_has_a_login CHECK ((kind = 'actor') = (login IS NOT NULL)),
    CONSTRAINT a_repository_has_a_name CHECK ((kind = 'repository') = (full_name IS NOT NULL))
);
-- Never enriched: in the order of choice, and by age.
CREATE INDEX entity_new ON pushfeed.entity (kind, last_seen_at DESC NULLS LAST, id) WHERE state IN ('pending', 'retryable_failure');
CREATE INDEX entity_age ON pushfeed.entity ((coalesce(last_seen_at, created_at))) WHERE state IN ('pending', 'retryable_failure');
-- Enriched, by the age of the document.
CREATE INDEX entity_stale ON pushfeed.entity (kind, fetched_at, next_retry_at) WHERE state = 'complete';

-- Leased, backed off or put off, which are few.
CREATE INDEX entity_put_off ON pushfeed.entity (kind, next_retry_at) WHERE next_retry_at IS NOT NULL;

-- Seen in the feed, by when that was.
CREATE INDEX entity_seen ON pushfeed.entity (kind, last_seen_at) WHERE last_seen_at IS NOT NULL;

-- How many entities of each kind are in each state: the sum of `more`. Every statement appends what it changed, so that nobody waits for a counter;
-- the rows of a sum are folded into one now and then.
CREATE TABLE pushfeed.entity_count (
    kind text NOT NULL,
    state text NOT NULL,
    more bigint NOT NULL
);
CREATE FUNCTION pushfeed.count_entities() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO pushfeed.entity_count SELECT kind, state, count(*) FROM made GROUP BY kind, state;
    ELSIF TG_OP = 'UPDATE' THEN
        INSERT INTO pushfeed.entity_count
        SELECT kind, state, sum(more) FROM (SELECT kind, state, 1 AS more FROM made UNION ALL SELECT kind, state, -1 FROM gone) c
         GROUP BY kind, state HAVING sum(more) <> 0;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO pushfeed.entity_count SELECT kind, state, -count(*) FROM gone GROUP BY kind, state;
    ELSE
        DELETE FROM pushfeed.entity_count;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER count_inserted AFTER INSERT ON pushfeed.entity REFERENCING NEW TABLE AS made
    FOR EACH STATEMENT EXECUTE FUNCTION pushfeed.count_entities();
CREATE TRIGGER count_updated AFTER UPDATE ON pushfeed.entity REFERENCING OLD TABLE AS gone NEW TABLE AS made
    FOR EACH STATEMENT EXECUTE FUNCTION pushfeed.count_entities();
CREATE TRIGGER count_deleted AFTER DELETE ON pushfeed.entity REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION pushfeed.count_entities();
CREATE TRIGGER count_truncated AFTER TRUNCATE ON pushfeed.entity FOR EACH STATEMENT EXECUTE FUNCTION pushfeed.count_entities();

-- How far an archive's file was read. Written in the transaction that writes its events, so that it is exact.
CREATE TABLE pushfeed.archive_file (
    name text NOT NULL,
    bytes bigint NOT NULL,
    lines bigint NOT NULL DEFAULT 0 CHECK (lines >= 0),
    created bigint NOT NULL DEFAULT 0,
    started_at timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz,
    PRIMARY KEY (name, bytes)
);

CREATE VIEW pushfeed.actors AS
    SELECT id, login, display_login, avatar_url, api_url, state, attempts, last_error, document, fetched_at, next_retry_at, created_at,
           first_seen_at, last_seen_at, latest_event_at FROM pushfeed.entity WHERE kind = 'actor';
CREATE VIEW pushfeed.repositories AS
    SELECT id, full_name, name, api_url, state, attempts, last_error, document, fetched_at, next_retry_at, created_at,
           first_seen_at, last_seen_at, latest_event_at FROM pushfeed.entity WHERE kind = 'repository';
