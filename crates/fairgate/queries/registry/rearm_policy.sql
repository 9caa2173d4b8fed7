-- Other limits may let go what waits for its time: look at it again.
UPDATE fairgate.partition_state s SET due_at = clock_timestamp(), eligible_at = '-infinity'
  FROM fairgate.shard h WHERE h.policy_id = $1 AND s.shard_id = h.id AND s.due_at > clock_timestamp()
