-- The partitions of a policy ($1) with the most waiting, most in flight and most ever admitted, at most $2 of each.
WITH s AS NOT MATERIALIZED (
    SELECT x.id, x.pending, x.in_flight, x.admitted
      FROM fairgate.partition_state x WHERE x.shard_id IN (SELECT h.id FROM fairgate.shard h WHERE h.policy_id = $1)),
most AS (
    (SELECT 'waiting' AS by, s.id, s.pending::float8 AS value FROM s WHERE s.pending > 0 ORDER BY s.pending DESC LIMIT $2)
    UNION ALL
    (SELECT 'in_flight', s.id, s.in_flight::float8 FROM s WHERE s.in_flight > 0 ORDER BY s.in_flight DESC LIMIT $2)
    UNION ALL
    (SELECT 'lifetime', s.id, s.admitted::float8 FROM s WHERE s.admitted > 0 ORDER BY s.admitted DESC LIMIT $2))
SELECT m.by, p.key, m.value FROM most m JOIN fairgate.partition p ON p.id = m.id ORDER BY m.by, m.value DESC, p.key
