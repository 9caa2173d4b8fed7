WITH written AS (
    INSERT INTO fairgate.queue AS q (name, kind, schema_name, settings, priority_min, priority_max, max_attempts_max, task_max_chars, shows, max_waiting, not_ready_reason)
    VALUES ($1, $2, $3, $4::text::jsonb, $5, $6, $7, $8, $9, $10, 'not looked at yet')
    ON CONFLICT (name) DO UPDATE
       SET kind = excluded.kind, schema_name = excluded.schema_name, settings = excluded.settings, priority_min = excluded.priority_min,
           priority_max = excluded.priority_max, max_attempts_max = excluded.max_attempts_max, task_max_chars = excluded.task_max_chars, shows = excluded.shows, max_waiting = excluded.max_waiting,
           ready = q.ready AND q.kind = excluded.kind AND q.schema_name = excluded.schema_name,
           hooks_digest = CASE WHEN q.kind = excluded.kind AND q.schema_name = excluded.schema_name THEN q.hooks_digest END,
           not_ready_reason = coalesce(q.not_ready_reason, excluded.not_ready_reason)
    RETURNING q.id),
-- Policies carry what their queue takes.
told AS (
    UPDATE fairgate.policy p SET priority_min = $5, priority_max = $6, max_attempts_max = $7, task_max_chars = $8
      FROM written w
     WHERE p.queue_id = w.id AND (p.priority_min, p.priority_max, p.max_attempts_max, p.task_max_chars) IS DISTINCT FROM ($5, $6, $7, $8))
SELECT w.id FROM written w
