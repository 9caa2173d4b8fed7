-- Gates of a coarser scope than the partition: capacity that many partitions share. docs/architecture.md draws who writes what.

-- What staging's reports need of the definition: [{"kind", "gate", "path" (null: the policy), "reads" (its numbers come from the context)}]. NULL: no such gate.
ALTER TABLE fairgate.policy ADD COLUMN scopes jsonb;

-- scopes: what it counted towards at its last look, without the policy's own; a hint for whom to claim. waiting_on without due_at: parked, until the
-- scope's waker takes it out. woken: it was taken out for a slot, so it need not stand behind the others again.
ALTER TABLE fairgate.partition_state
    ADD COLUMN scopes uuid[],
    ADD COLUMN waiting_on uuid,
    ADD COLUMN waiting_since timestamptz,
    ADD COLUMN woken boolean NOT NULL DEFAULT false;
CREATE INDEX partition_waiting ON fairgate.partition_state (waiting_on, waiting_since, id) WHERE waiting_on IS NOT NULL;

-- The scopes whose slot an admission holds, whatever its partition counts towards later; NULL without such gates: it is read and written for every job.
ALTER TABLE fairgate.in_flight ADD COLUMN scopes uuid[];

-- One row a scope and gate: changed only by who holds its lock. The id is a digest (fairgate.scope_id). The numbers of the gate come from the context, the
-- newest of the scope's partitions. While partitions may wait for it (waited), due_at says when to wake some of them. woken: of those, how many
-- have not been looked at, as an estimate that only keeps too many from being woken.
CREATE TABLE fairgate.scope (
    id uuid PRIMARY KEY,
    policy_id int NOT NULL,
    in_flight int NOT NULL DEFAULT 0 CHECK (in_flight >= 0),
    woken int NOT NULL DEFAULT 0 CHECK (woken >= 0),
    due_at timestamptz,
    woken_at timestamptz NOT NULL DEFAULT '-infinity',
    touched_at timestamptz NOT NULL,
    admitted bigint NOT NULL DEFAULT 0,
    context_seq bigint NOT NULL DEFAULT 0,
    waited boolean NOT NULL DEFAULT false,
    kind text NOT NULL,
    gate text NOT NULL,
    -- NULL: the policy's own.
    key text COLLATE "C" CHECK (key <> '' AND octet_length(key) <= 10000),
    states text,
    context jsonb NOT NULL,
    CHECK (waited OR due_at IS NULL)
) WITH (fillfactor = 30, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX scope_due ON fairgate.scope (policy_id, due_at) WHERE due_at IS NOT NULL;

-- Reports: slots that were given back, and newer contexts. A row with a policy carries the whole identity, so that absorb can create the scope.
CREATE TABLE fairgate.scope_delta (
    scope_id uuid NOT NULL,
    released int NOT NULL DEFAULT 0,
    policy_id int,
    seq bigint,
    kind text,
    gate text,
    key text,
    context jsonb
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);

-- The digest that stands for (policy, kind of gate, gate, key) everywhere; key NULL: the whole policy.
CREATE FUNCTION fairgate.scope_id(policy_id int, kind text, gate text, key text) RETURNS uuid
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT encode(substring(sha256(int4send(policy_id) || '\x01'::bytea || convert_to(kind, 'UTF8') || '\x00'::bytea || convert_to(gate, 'UTF8')
               || coalesce('\x0076'::bytea || convert_to(key, 'UTF8'), '\x0070'::bytea)) FOR 16), 'hex')::uuid
$$;

-- The key that a context gives at a path, by the rules of fairgate.render; NULL where it gives none.
CREATE FUNCTION fairgate.scope_key(path jsonb, context jsonb) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    value jsonb := context #> ARRAY (SELECT jsonb_array_elements_text(path));
    piece text := value #>> '{}';
BEGIN
    IF coalesce(jsonb_typeof(value), 'null') NOT IN ('string', 'boolean', 'number') OR piece = '' OR octet_length(piece) > 10000 THEN
        RETURN NULL;
    ELSIF jsonb_typeof(value) = 'number' AND (piece !~ '^-?[0-9]{1,19}$' OR piece::numeric NOT BETWEEN -9223372036854775808 AND 9223372036854775807) THEN
        RETURN NULL;
    END IF;
    RETURN piece;
END $$;

-- Tells the scopes of these partitions, whose rows this transaction has locked, of contexts newer than their own, and those that have no row yet of themselves.
CREATE FUNCTION fairgate.report_contexts(partitions uuid[]) RETURNS void
LANGUAGE sql VOLATILE AS $$
    INSERT INTO fairgate.scope_delta (scope_id, policy_id, seq, kind, gate, key, context)
    SELECT DISTINCT ON (n.id) n.id, n.policy_id, n.context_seq, n.kind, n.gate, n.key, n.context
      FROM (SELECT fairgate.scope_id(p.policy_id, g.kind, g.gate, k.key) AS id, p.policy_id, s.context_seq, g.kind, g.gate, k.key, p.context, g.reads
              FROM fairgate.partition_state s JOIN fairgate.partition p ON p.id = s.id JOIN fairgate.policy d ON d.id = p.policy_id
             CROSS JOIN jsonb_to_recordset(d.scopes) g (kind text, gate text, path jsonb, reads boolean)
             CROSS JOIN LATERAL (SELECT CASE WHEN jsonb_typeof(g.path) = 'array' THEN fairgate.scope_key(g.path, p.context) END AS key) k
             WHERE s.id = ANY (partitions) AND p.id = ANY (partitions) AND (k.key IS NOT NULL OR jsonb_typeof(g.path) IS DISTINCT FROM 'array')) n
      LEFT JOIN fairgate.scope c ON c.id = n.id
     WHERE c.id IS NULL OR n.reads AND c.context_seq < n.context_seq
     ORDER BY n.id, n.context_seq DESC
$$;

-- One window of reports about scopes, called as fairgate.absorb is and with the same results. Rows are created in id order.
CREATE FUNCTION fairgate.absorb_scopes(max_rows int, avoid uuid[], now_override timestamptz, OUT seen bigint, OUT folded bigint, OUT passed_over uuid[])
LANGUAGE plpgsql VOLATILE
SET jit = off SET enable_seqscan = off SET enable_nestloop = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET synchronous_commit = off AS $$
DECLARE
    at timestamptz := coalesce(now_override, clock_timestamp());
    ids uuid[];
    locked uuid[];
BEGIN
    SELECT coalesce(sum(w.reports), 0), coalesce(array_agg(w.scope_id), '{}') INTO seen, ids
      FROM (SELECT d.scope_id, count(*) AS reports
              FROM (SELECT x.scope_id FROM fairgate.scope_delta x WHERE x.scope_id <> ALL (avoid) LIMIT max_rows) d GROUP BY 1) w;
    folded := 0;
    passed_over := '{}';
    IF ids = '{}' THEN
        RETURN;
    END IF;
    INSERT INTO fairgate.scope (id, policy_id, kind, gate, key, context, context_seq, touched_at)
    SELECT DISTINCT ON (d.scope_id) d.scope_id, d.policy_id, d.kind, d.gate, d.key, d.context, d.seq, at
      FROM fairgate.scope_delta d JOIN (SELECT unnest(ids) EXCEPT SELECT s.id FROM fairgate.scope s WHERE s.id = ANY (ids)) m (id) ON m.id = d.scope_id
     WHERE d.policy_id IS NOT NULL
     ORDER BY d.scope_id, d.seq DESC
    ON CONFLICT DO NOTHING;
    locked := ARRAY (SELECT s.id FROM fairgate.scope s WHERE s.id = ANY (ids) FOR NO KEY UPDATE SKIP LOCKED);
    -- The rows are ours now, so a statement that starts here sees what is left of their reports.
    WITH gone AS MATERIALIZED (
        DELETE FROM fairgate.scope_delta WHERE ctid = ANY (ARRAY (
            SELECT d.ctid FROM fairgate.scope_delta d JOIN unnest(locked) l (id) ON l.id = d.scope_id LIMIT max_rows))
        RETURNING scope_id, released, seq, context),
    sums AS MATERIALIZED (
        SELECT g.scope_id, count(*) AS rows, sum(g.released)::int AS released, max(g.seq) AS seq FROM gone g GROUP BY 1),
    newest AS MATERIALIZED (
        SELECT DISTINCT ON (x.scope_id) x.*, g.context FROM sums x LEFT JOIN gone g ON g.scope_id = x.scope_id AND g.seq = x.seq ORDER BY x.scope_id),
    settled AS (
        UPDATE fairgate.scope s
           SET in_flight = s.in_flight - n.released, touched_at = greatest(s.touched_at, at), context_seq = greatest(s.context_seq, n.seq),
               context = CASE WHEN n.seq > s.context_seq THEN n.context ELSE s.context END,
               due_at = CASE WHEN s.waited THEN least(s.due_at, at) END
          FROM newest n WHERE s.id = ANY (locked) AND s.id = n.scope_id
        RETURNING n.rows)
    SELECT coalesce(sum(x.rows), 0) INTO folded FROM settled x;
    passed_over := ARRAY (SELECT unnest(ids) EXCEPT SELECT unnest(locked));
END $$;

-- Gives back the slots of scopes that an admission held. Those that sleep are told where somebody waits for one.
CREATE FUNCTION fairgate.free_scopes(ids uuid[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO fairgate.scope_delta (scope_id, released) SELECT unnest(ids), 1;
    IF EXISTS (SELECT FROM fairgate.ticker WHERE asleep)
       AND EXISTS (SELECT FROM fairgate.scope s WHERE s.id = ANY (ids) AND (s.waited OR s.key IS NULL)) THEN
        NOTIFY fairgate;
    END IF;
END $$;

CREATE VIEW fairgate.scopes AS
    SELECT p.name AS policy, s.gate, s.kind, s.key, s.in_flight, s.admitted, s.waited, s.due_at, s.states::jsonb AS states, s.context, s.touched_at, s.id AS scope_id
      FROM fairgate.scope s JOIN fairgate.policy p ON p.id = s.policy_id;

REVOKE EXECUTE ON FUNCTION fairgate.report_contexts(uuid[]), fairgate.absorb_scopes(int, uuid[], timestamptz), fairgate.free_scopes(uuid[]),
    fairgate.scope_id(int, text, text, text), fairgate.scope_key(jsonb, jsonb) FROM PUBLIC;
