-- What operators did: who, when, what. A row is written before the operation begins, so that none goes unseen; outcome is NULL while it is
-- under way, and stays so if the program dies in it.
CREATE TABLE fairgate.audit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    who text NOT NULL CHECK (who <> '' AND octet_length(who) <= 1000),
    action text NOT NULL CHECK (action <> ''),
    policy text,
    partition_key text,
    job_id uuid,
    -- What else was asked for, as in a count or a limit.
    detail text CHECK (octet_length(detail) <= 20000),
    done_at timestamptz,
    succeeded boolean,
    outcome text,
    CHECK ((done_at IS NULL) = (outcome IS NULL) AND (done_at IS NULL) = (succeeded IS NULL))
);
CREATE INDEX audit_policy ON fairgate.audit (policy, id) WHERE policy IS NOT NULL;
