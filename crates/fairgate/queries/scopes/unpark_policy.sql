-- Other gates may count towards other scopes, and have other limits: whoever waits is looked at again. The ticks and wake-ups of the policy are shut out.
WITH unparked AS (
    UPDATE fairgate.partition_state s
       SET waiting_on = NULL, due_at = CASE WHEN s.paused OR s.pending <= 0 THEN NULL ELSE coalesce(s.due_at, s.waiting_since, clock_timestamp()) END
      FROM fairgate.shard h WHERE h.policy_id = $1 AND s.shard_id = h.id AND s.waiting_on IS NOT NULL)
UPDATE fairgate.scope SET due_at = clock_timestamp() WHERE policy_id = $1 AND waited
