-- Those that the next look counts with: in force, or ended since the last one.
SELECT coalesce(p.key, '') AS partition, o.gate, o.parameter, o.value, o.until, o.who, o.made_at, o.reason
  FROM fairgate.override o LEFT JOIN fairgate.partition p ON p.id = o.partition_id LEFT JOIN fairgate.partition_state s ON s.id = o.partition_id
 WHERE o.partition_id = $1 AND o.until > coalesce(s.checked_at, '-infinity')
 ORDER BY o.gate, o.parameter
