-- Ends one, or all, of a partition ($1) that are in force. Under the partition's lock, as they are made. $2 gate and $3 parameter, or NULL.
UPDATE fairgate.override o SET until = t.now
  FROM (SELECT clock_timestamp() AS now OFFSET 0) t
 WHERE o.partition_id = $1 AND o.until > t.now AND ($2::text IS NULL OR o.gate = $2 AND o.parameter = $3)
