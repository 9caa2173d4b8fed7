-- oldest: of the first rows of staging in the order of their ids, which sort by the time of staging; where a policy has none among them, of the first
-- jobs of the partitions that are looked at next. Staging may hold many millions, so it is never read whole.
WITH state AS (
    SELECT h.policy_id, count(*) AS partitions, sum(s.pending) AS pending, sum(s.future) AS future, sum(s.in_flight) AS in_flight
      FROM fairgate.partition_state s JOIN fairgate.shard h ON h.id = s.shard_id GROUP BY 1),
told AS (
    SELECT coalesce(p.policy_id, d.policy_id) AS policy_id, sum(d.staged) AS staged, sum(d.future) AS future, sum(d.released) AS released
      FROM (SELECT x.partition_id, max(x.policy_id) AS policy_id, sum(x.staged) AS staged, sum(x.future) AS future, sum(x.released) AS released
              FROM fairgate.delta x GROUP BY 1) d LEFT JOIN fairgate.partition p ON p.id = d.partition_id GROUP BY 1),
minute AS (
    SELECT h.policy_id, sum(t.jobs_admitted) AS admitted
      FROM fairgate.tick_sample t JOIN fairgate.shard h ON h.id = t.shard_id WHERE t.at > clock_timestamp() - interval '1 minute' GROUP BY 1),
reasons AS (
    SELECT x.policy_id, jsonb_object_agg(x.reason, x.looks) AS denials
      FROM (SELECT h.policy_id, r.key AS reason, sum(r.value::bigint) AS looks
              FROM fairgate.tick_sample t JOIN fairgate.shard h ON h.id = t.shard_id CROSS JOIN LATERAL jsonb_each_text(t.denials) r
             WHERE t.at > clock_timestamp() - interval '1 minute' GROUP BY 1, 2) x GROUP BY 1),
oldest AS MATERIALIZED (
    SELECT o.policy_id, min(o.ready_at) AS ready_at
      FROM (SELECT j.policy_id, j.ready, j.ready_at FROM fairgate.staged j ORDER BY j.job_id LIMIT 2000) o WHERE o.ready GROUP BY 1)
SELECT p.name, p.revision, p.enabled AND e.enabled AS enabled, p.paused, p.retired, q.name AS queue, q.ready AS queue_ready,
       q.not_ready_reason AS queue_problem, coalesce(s.partitions, 0) AS partitions,
       (coalesce(s.pending, 0) + coalesce(d.staged, 0))::bigint AS pending, (coalesce(s.future, 0) + coalesce(d.future, 0))::bigint AS scheduled,
       (coalesce(s.in_flight, 0) - coalesce(d.released, 0))::bigint AS in_flight,
       (SELECT count(*) FROM fairgate.quarantined x WHERE x.policy_id = p.id) AS quarantined,
       coalesce(m.admitted, 0)::bigint AS admitted_last_minute,
       coalesce(o.ready_at, CASE WHEN s.pending > 0 THEN (
           SELECT min(f.ready_at)
             FROM (SELECT w.id FROM fairgate.shard h JOIN fairgate.partition_state w ON w.shard_id = h.id
                    WHERE h.policy_id = p.id AND w.pending > 0 ORDER BY w.due_at LIMIT 100) w
            CROSS JOIN LATERAL (SELECT j.ready_at FROM fairgate.staged j WHERE j.partition_id = w.id AND j.ready ORDER BY j.priority, j.ready_at LIMIT 1) f) END) AS oldest_ready_at,
       coalesce(r.denials, '{}') AS denials_last_minute, p.definition
  FROM fairgate.policy p JOIN fairgate.queue q ON q.id = p.queue_id CROSS JOIN fairgate.engine e
  LEFT JOIN state s ON s.policy_id = p.id LEFT JOIN told d ON d.policy_id = p.id LEFT JOIN minute m ON m.policy_id = p.id
  LEFT JOIN reasons r ON r.policy_id = p.id LEFT JOIN oldest o ON o.policy_id = p.id
 ORDER BY p.retired, p.name
