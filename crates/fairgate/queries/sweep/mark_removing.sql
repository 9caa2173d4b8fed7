UPDATE fairgate.partition_state SET removing = pg_current_xact_id()
 WHERE id = ANY (ARRAY (
       SELECT s.id FROM fairgate.partition_state s
        WHERE s.id = ANY ($1) AND s.due_at IS NULL AND s.in_flight = 0 AND s.pending = 0 AND s.future = 0 AND NOT s.paused AND s.removing IS NULL
        ORDER BY s.id FOR NO KEY UPDATE SKIP LOCKED))
