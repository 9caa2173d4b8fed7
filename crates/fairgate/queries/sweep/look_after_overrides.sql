-- Partitions without jobs that an override of theirs has ended for ($1 now) and that nobody has looked at since: their buckets fill by its number still.
UPDATE fairgate.partition_state SET due_at = clock_timestamp(), waiting_on = NULL
 WHERE id = ANY (ARRAY (
       SELECT s.id FROM fairgate.partition_state s
        WHERE s.due_at IS NULL AND NOT s.paused AND s.id IN (
              SELECT o.partition_id FROM fairgate.override o
               WHERE o.until <= coalesce($1, clock_timestamp()) AND o.until > coalesce(s.checked_at, '-infinity'))
        ORDER BY s.id LIMIT 1000 FOR NO KEY UPDATE SKIP LOCKED))
