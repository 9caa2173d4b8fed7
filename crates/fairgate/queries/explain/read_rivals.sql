-- Who else wants what a tick may hand over. $1 policy, $2 partition, $3 now. dues: when the other partitions of its lane are due, the first 1,001 of them;
-- told: other partitions of the policy with new jobs in reports that wait; lanes: those with something due, or told, that send to the same queue; awake: tickers at work.
SELECT ARRAY (SELECT greatest(o.due_at, t.now)
                FROM (SELECT h.id FROM fairgate.shard h
                       WHERE h.policy_id = $1 AND h.id = coalesce((SELECT s.shard_id FROM fairgate.partition_state s WHERE s.id = $2), h.id)) l
               CROSS JOIN LATERAL (SELECT s.due_at FROM fairgate.partition_state s WHERE s.shard_id = l.id AND s.due_at IS NOT NULL AND s.id <> $2
                                    ORDER BY s.due_at LIMIT 1001) o) AS dues,
       (SELECT count(DISTINCT d.partition_id) FROM fairgate.delta d WHERE d.policy_id = $1 AND d.partition_id <> $2 AND d.key IS NOT NULL) AS told,
       (SELECT count(*) FROM fairgate.policy p CROSS JOIN LATERAL (
                SELECT h.policy_id, h.name FROM fairgate.policy o JOIN fairgate.shard h ON h.policy_id = o.id
                 CROSS JOIN LATERAL (SELECT s.id FROM fairgate.partition_state s WHERE s.shard_id = h.id AND s.due_at IS NOT NULL ORDER BY s.due_at LIMIT 1) s
                 WHERE o.queue_id = p.queue_id
                 UNION
                SELECT d.policy_id, d.shard FROM fairgate.delta d JOIN fairgate.policy o ON o.id = d.policy_id
                 WHERE o.queue_id = p.queue_id AND d.key IS NOT NULL) l WHERE p.id = $1) AS lanes,
       (SELECT count(*) FROM fairgate.ticker r WHERE NOT r.asleep AND r.seen_at > clock_timestamp() - interval '25 s') AS awake
  FROM (SELECT coalesce($3, clock_timestamp()) AS now) t
