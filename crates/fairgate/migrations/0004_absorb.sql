-- Folds what was reported in delta into the hot rows. Always called outside a transaction, as one statement, so that a ticker that freezes
-- cannot hold it open. A partition whose row is locked is passed over, and the rows behind it are not.

-- Flips what has come due to ready, oldest first.
CREATE FUNCTION fairgate.promote(max_rows int, now_override timestamptz) RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET jit = off SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    at timestamptz := coalesce(now_override, clock_timestamp());
    promoted bigint;
BEGIN
    WITH due AS (
        UPDATE fairgate.staged SET ready = true
         WHERE ctid = ANY (ARRAY (SELECT s.ctid FROM fairgate.staged s WHERE NOT s.ready AND s.ready_at <= at
                                   ORDER BY s.ready_at LIMIT max_rows FOR UPDATE SKIP LOCKED))
        RETURNING partition_id),
    told AS (
        INSERT INTO fairgate.delta (partition_id, staged, future) SELECT partition_id, count(*), -count(*) FROM due GROUP BY 1)
    SELECT count(*) INTO promoted FROM due;
    RETURN promoted;
END $$;

-- Creates, or brings back, the partitions that have reports and no row. In id order, so that two absorbs cannot deadlock.
CREATE FUNCTION fairgate.absorb_new(at timestamptz, missing uuid[]) RETURNS void
LANGUAGE plpgsql VOLATILE SET jit = off AS $$
DECLARE
    newest fairgate.delta[];
BEGIN
    -- The newest stage of each; a report without an identity (of a partition that a later report will bring back) waits.
    newest := ARRAY (SELECT row(x.*)::fairgate.delta FROM (
        SELECT DISTINCT ON (d.partition_id) d.* FROM fairgate.delta d
         WHERE d.partition_id = ANY (missing) AND d.key IS NOT NULL ORDER BY d.partition_id, d.seq DESC) x);
    INSERT INTO fairgate.shard (policy_id, name)
    SELECT DISTINCT n.policy_id, n.shard FROM unnest(newest) n
     WHERE NOT EXISTS (SELECT FROM fairgate.shard s WHERE s.policy_id = n.policy_id AND s.name = n.shard)
     ORDER BY 1, 2
    ON CONFLICT DO NOTHING;
    INSERT INTO fairgate.partition (id, policy_id, shard_id, key, context)
    SELECT n.partition_id, n.policy_id, s.id, n.key, n.context
      FROM unnest(newest) n JOIN fairgate.shard s ON s.policy_id = n.policy_id AND s.name = n.shard ORDER BY n.partition_id
    ON CONFLICT DO NOTHING;
    INSERT INTO fairgate.partition_state (id, shard_id, context_seq, touched_at, recent_at)
    SELECT p.id, p.shard_id, 0, at, at FROM fairgate.partition p WHERE p.id = ANY (SELECT n.partition_id FROM unnest(newest) n) ORDER BY p.id
    ON CONFLICT DO NOTHING;
END $$;

-- One window of reports. Returns how many it read, how many it folded in, and the partitions that it had to pass over.
-- A transaction of its own each, so that two absorbs that create partitions in several windows cannot wait for each other in a ring.
CREATE FUNCTION fairgate.absorb(max_rows int, avoid uuid[], now_override timestamptz, OUT seen bigint, OUT folded bigint, OUT passed_over uuid[])
LANGUAGE plpgsql VOLATILE
SET jit = off SET enable_bitmapscan = off SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET synchronous_commit = off AS $$
DECLARE
    at timestamptz := coalesce(now_override, clock_timestamp());
    ids uuid[];
    missing uuid[];
    locked uuid[];
BEGIN
    SELECT count(*), array_agg(DISTINCT w.partition_id) INTO seen, ids
      FROM (SELECT d.partition_id FROM fairgate.delta d WHERE d.partition_id <> ALL (avoid) LIMIT max_rows) w;
    folded := 0;
    IF seen = 0 THEN
        passed_over := '{}';
        RETURN;
    END IF;
    missing := ARRAY (SELECT i FROM unnest(ids) i WHERE NOT EXISTS (SELECT FROM fairgate.partition_state s WHERE s.id = i));
    IF missing <> '{}' THEN
        PERFORM fairgate.absorb_new(at, missing);
    END IF;
    locked := ARRAY (SELECT s.id FROM fairgate.partition_state s WHERE s.id = ANY (ids) FOR NO KEY UPDATE SKIP LOCKED);
    -- The rows are ours now, so a statement that starts here sees all of their reports that another absorb left.
    WITH gone AS MATERIALIZED (
        DELETE FROM fairgate.delta WHERE ctid = ANY (ARRAY (
            SELECT d.ctid FROM fairgate.delta d WHERE d.partition_id = ANY (locked) LIMIT max_rows))
        RETURNING partition_id, staged, future, released, seq, context),
    sums AS MATERIALIZED (
        SELECT g.partition_id, count(*) AS rows, sum(g.staged)::int AS staged, sum(g.future)::int AS future, sum(g.released)::int AS released,
               max(g.seq) AS seq
          FROM gone g GROUP BY 1),
    newest AS MATERIALIZED (
        SELECT x.*, g.context FROM sums x FULL JOIN gone g ON g.partition_id = x.partition_id AND g.seq = x.seq WHERE x.partition_id IS NOT NULL),
    renewed AS (
        UPDATE fairgate.partition p SET context = n.context
          FROM newest n JOIN fairgate.partition_state s ON s.id = n.partition_id
         WHERE p.id = n.partition_id AND n.seq > s.context_seq AND p.context IS DISTINCT FROM n.context
        RETURNING p.id),
    facts AS MATERIALIZED (
        SELECT n.partition_id, n.rows, n.staged, n.future, n.released, n.seq, r.id IS NOT NULL AS renewed
          FROM newest n FULL JOIN renewed r ON r.id = n.partition_id WHERE n.partition_id IS NOT NULL),
    settled AS (
        UPDATE fairgate.partition_state s
           SET pending = s.pending + f.staged, future = s.future + f.future, in_flight = s.in_flight - f.released,
               context_seq = greatest(s.context_seq, f.seq), touched_at = greatest(s.touched_at, at), removing = NULL,
               eligible_at = CASE WHEN f.renewed THEN '-infinity' ELSE s.eligible_at END,
               due_at = CASE
                   WHEN s.paused OR s.pending + f.staged <= 0 THEN NULL
                   WHEN s.due_at IS NULL AND s.checked_at IS NULL THEN '-infinity'
                   WHEN s.due_at IS NULL THEN greatest(at, CASE WHEN f.renewed THEN '-infinity' ELSE s.eligible_at END)
                   WHEN f.renewed THEN least(s.due_at, at)
                   WHEN f.released > 0 THEN least(s.due_at, greatest(at, s.eligible_at))
                   ELSE s.due_at END
          FROM facts f WHERE s.id = f.partition_id
        RETURNING f.rows)
    SELECT coalesce(sum(x.rows), 0) INTO folded FROM settled x;
    passed_over := ARRAY (SELECT i FROM unnest(ids) i WHERE i <> ALL (locked));
END $$;
