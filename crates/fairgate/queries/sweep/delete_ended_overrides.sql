-- An override is deleted if and only if it has ended ($1 now) and its partition was looked at since, or is gone.
DELETE FROM fairgate.override WHERE ctid = ANY (ARRAY (
    SELECT o.ctid FROM fairgate.override o
     WHERE o.until <= coalesce($1, clock_timestamp())
       AND NOT EXISTS (SELECT FROM fairgate.partition_state s WHERE s.id = o.partition_id AND coalesce(s.checked_at, '-infinity') < o.until)
     LIMIT 1000 FOR UPDATE SKIP LOCKED))
