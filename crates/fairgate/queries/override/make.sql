-- Under the partition's lock: no tick is under way that could have missed it. $1 partition, $2 policy, $6 how long, $7 who says so, if known.
INSERT INTO fairgate.override AS o (partition_id, policy_id, gate, parameter, value, until, who, made_at, reason)
SELECT $1, $2, $3, $4, $5, t.now + $6::interval, coalesce(nullif($7::text, '') || ' as ', '') || session_user, t.now, $8
  FROM (SELECT clock_timestamp() AS now OFFSET 0) t
ON CONFLICT (partition_id, gate, parameter) DO UPDATE
   SET value = excluded.value, until = excluded.until, who = excluded.who, made_at = excluded.made_at, reason = excluded.reason
RETURNING $9::text AS partition, o.gate, o.parameter, o.value, o.until, o.who, o.made_at, o.reason
