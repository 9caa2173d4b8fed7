-- A counter that somebody else has made too small stays at zero, so that it stops nobody; the doctor's audit tells of it.
-- Folds what was reported in delta into the hot rows. Always called outside a transaction, as one statement, so that a ticker that freezes
-- cannot hold it open. A partition whose row is locked is passed over, and the rows behind it are not.
-- Lists of ids reach tables with an index as `= ANY (array)` and everything else by a hash join: nested loops are off, so that no
-- estimate can make these statements quadratic. Sequential scans are off for the same reason: `= ANY` over a table of unknown size is one.

-- What stagers, finishers and cancellers report; absorb folds it into partition_state and deletes it. No index but for capped ones: appending costs least.
-- No CHECK either: an INSERT of one row parses them anew each time. A row of a stage carries the whole identity, so that absorb can create the partition, and the context with its sequence.
CREATE TABLE fairgate.delta (
    partition_id uuid NOT NULL,
    staged int NOT NULL DEFAULT 0,
    future int NOT NULL DEFAULT 0,
    released int NOT NULL DEFAULT 0,
    policy_id int,
    seq bigint,
    key text,
    shard text,
    context jsonb,
    -- Of a policy with max_pending: staging counts these.
    capped boolean,
    -- What the end of a job teaches: see fairgate.lesson.
    lesson jsonb,
    -- Worker seconds beyond what the job was charged, and worker seconds in all, of a job that ran: for weights by worker time.
    correction float8,
    seconds float8
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);
CREATE INDEX delta_capped ON fairgate.delta (partition_id) WHERE capped;

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

-- Creates, or brings back, the partitions that have reports and no row, from their first stage, which pins the shard; newer contexts follow
-- when the reports are folded in. In id order, so that two absorbs cannot deadlock. A report without an identity, of a partition that a
-- later report will bring back, waits.
CREATE FUNCTION fairgate.absorb_new(at timestamptz, missing uuid[]) RETURNS void
LANGUAGE plpgsql VOLATILE
SET jit = off SET enable_seqscan = off SET enable_nestloop = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    INSERT INTO fairgate.shard (policy_id, name)
    SELECT DISTINCT d.policy_id, d.shard
      FROM fairgate.delta d JOIN unnest(missing) m (id) ON m.id = d.partition_id LEFT JOIN fairgate.shard s ON s.policy_id = d.policy_id AND s.name = d.shard
     WHERE d.key IS NOT NULL AND s.id IS NULL
     ORDER BY 1, 2
    ON CONFLICT DO NOTHING;
    INSERT INTO fairgate.partition (id, policy_id, shard_id, key, context)
    SELECT n.partition_id, n.policy_id, s.id, n.key, n.context
      FROM (SELECT DISTINCT ON (d.partition_id) d.partition_id, d.policy_id, d.shard, d.key, d.context
              FROM fairgate.delta d JOIN unnest(missing) m (id) ON m.id = d.partition_id
             WHERE d.key IS NOT NULL ORDER BY d.partition_id, d.seq) n
      JOIN fairgate.shard s ON s.policy_id = n.policy_id AND s.name = n.shard
     ORDER BY n.partition_id
    ON CONFLICT DO NOTHING;
    INSERT INTO fairgate.partition_state (id, shard_id, due_at, touched_at, recent_at)
    SELECT p.id, p.shard_id, '-infinity', at, at FROM fairgate.partition p WHERE p.id = ANY (missing) ORDER BY p.id
    ON CONFLICT DO NOTHING;
END $$;

-- One window of reports. Returns how many it read, how many it folded in, and the partitions that it had to pass over.
-- A transaction of its own each, so that two absorbs that create partitions in several windows cannot wait for each other in a ring.
CREATE FUNCTION fairgate.absorb(max_rows int, avoid uuid[], now_override timestamptz, OUT seen bigint, OUT folded bigint, OUT passed_over uuid[])
LANGUAGE plpgsql VOLATILE
SET jit = off SET enable_seqscan = off SET enable_nestloop = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET synchronous_commit = off AS $$
DECLARE
    at timestamptz := coalesce(now_override, clock_timestamp());
    ids uuid[];
    missing uuid[];
    locked uuid[];
BEGIN
    SELECT sum(w.reports), array_agg(w.partition_id) INTO seen, ids
      FROM (SELECT d.partition_id, count(*) AS reports
              FROM (SELECT x.partition_id FROM fairgate.delta x WHERE x.partition_id <> ALL (avoid) LIMIT max_rows) d GROUP BY 1) w;
    folded := 0;
    passed_over := '{}';
    IF ids IS NULL THEN
        seen := 0;
        RETURN;
    END IF;
    missing := ARRAY (SELECT unnest(ids) EXCEPT SELECT s.id FROM fairgate.partition_state s WHERE s.id = ANY (ids));
    IF missing <> '{}' THEN
        PERFORM fairgate.absorb_new(at, missing);
    END IF;
    locked := ARRAY (SELECT s.id FROM fairgate.partition_state s WHERE s.id = ANY (ids) FOR NO KEY UPDATE SKIP LOCKED);
    -- The rows are ours now, so a statement that starts here sees what is left of their reports.
    WITH gone AS MATERIALIZED (
        DELETE FROM fairgate.delta WHERE ctid = ANY (ARRAY (
            SELECT d.ctid FROM fairgate.delta d JOIN unnest(locked) l (id) ON l.id = d.partition_id LIMIT max_rows))
        RETURNING partition_id, staged, future, released, seq, context, lesson, correction, seconds),
    sums AS MATERIALIZED (
        SELECT g.partition_id, count(*) AS rows, sum(g.staged)::int AS staged, sum(g.future)::int AS future, sum(g.released)::int AS released,
               max(g.seq) AS seq, jsonb_agg(g.lesson) FILTER (WHERE g.lesson IS NOT NULL) AS lessons,
               coalesce(sum(g.correction), 0) AS correction, count(g.seconds)::int AS finished_jobs, coalesce(sum(g.seconds), 0) AS finished_seconds
          FROM gone g GROUP BY 1),
    newest AS MATERIALIZED (
        SELECT x.*, g.context FROM sums x LEFT JOIN gone g ON g.seq = x.seq),
    renewed AS (
        UPDATE fairgate.partition p SET context = n.context
          FROM newest n JOIN fairgate.partition_state s ON s.id = n.partition_id
         WHERE s.id = ANY (locked) AND p.id = ANY (locked) AND p.id = n.partition_id AND n.seq > s.context_seq AND p.context IS DISTINCT FROM n.context
        RETURNING p.id),
    settled AS (
        UPDATE fairgate.partition_state s
           SET pending = s.pending + f.staged, future = s.future + f.future, in_flight = greatest(0, s.in_flight - f.released),
               lessons = CASE WHEN f.lessons IS NULL THEN s.lessons ELSE coalesce(s.lessons, '[]') || f.lessons END,
               correction = s.correction + f.correction, finished_jobs = s.finished_jobs + f.finished_jobs,
               finished_seconds = s.finished_seconds + f.finished_seconds,
               context_seq = greatest(s.context_seq, f.seq), touched_at = greatest(s.touched_at, at), removing = NULL,
               eligible_at = CASE WHEN f.renewed THEN '-infinity' ELSE s.eligible_at END,
               waiting_on = CASE WHEN NOT f.renewed THEN s.waiting_on END,
               due_at = CASE
                   WHEN s.paused OR s.pending + f.staged <= 0 THEN NULL
                   -- It waits for a scope, whose waker knows its turn.
                   WHEN s.due_at IS NULL AND s.waiting_on IS NOT NULL AND NOT f.renewed THEN NULL
                   WHEN s.due_at IS NULL AND s.checked_at IS NULL THEN '-infinity'
                   WHEN s.due_at IS NULL THEN greatest(at, CASE WHEN f.renewed THEN '-infinity' ELSE s.eligible_at END)
                   WHEN f.renewed THEN least(s.due_at, at)
                   WHEN f.released > 0 THEN least(s.due_at, greatest(at, s.eligible_at))
                   ELSE s.due_at END
          FROM (SELECT n.*, r.id IS NOT NULL AS renewed FROM newest n LEFT JOIN renewed r ON r.id = n.partition_id) f
         WHERE s.id = ANY (locked) AND s.id = f.partition_id
        RETURNING f.rows)
    SELECT coalesce(sum(x.rows), 0) INTO folded FROM settled x;
    IF EXISTS (SELECT FROM fairgate.policy d WHERE d.scopes IS NOT NULL) THEN
        PERFORM fairgate.report_contexts(locked);
    END IF;
    IF cardinality(locked) < cardinality(ids) THEN
        passed_over := ARRAY (SELECT unnest(ids) EXCEPT SELECT unnest(locked));
    END IF;
END $$;
