-- Deletes what was marked, once every transaction that ran then has ended, if it is still idle and nothing was reported of it meanwhile.
WITH gone AS (
    DELETE FROM fairgate.partition_state WHERE id = ANY (ARRAY (
        SELECT s.id FROM fairgate.partition_state s
         WHERE s.removing < pg_snapshot_xmin(pg_current_snapshot())
           AND s.due_at IS NULL AND s.in_flight = 0 AND s.pending = 0 AND s.future = 0 AND NOT s.paused
           AND s.touched_at <= coalesce($2, clock_timestamp()) - $1::interval
           AND NOT EXISTS (SELECT FROM fairgate.delta d WHERE d.partition_id = s.id)
         ORDER BY s.removing LIMIT 5000 FOR UPDATE SKIP LOCKED))
    RETURNING id),
identity AS (
    DELETE FROM fairgate.partition p USING gone g WHERE p.id = g.id)
SELECT count(*) FROM gone
