SELECT o.partition_key AS partition, o.gate, o.parameter, o.value, o.until, o.who, o.made_at, o.reason
  FROM fairgate.overrides o
 WHERE o.policy = $1 AND ($2::uuid IS NULL OR o.partition_id = $2)
 ORDER BY o.partition_key, o.gate, o.parameter
