-- What people and other programs read.
CREATE VIEW fairgate.policies AS
    SELECT p.name, p.revision, p.enabled AND e.enabled AS enabled, p.paused, p.retired, q.name AS queue, q.ready AS queue_ready, p.source,
           p.definition, p.applied_at
      FROM fairgate.policy p JOIN fairgate.queue q ON q.id = p.queue_id CROSS JOIN fairgate.engine e;

CREATE VIEW fairgate.partitions AS
    SELECT pol.name AS policy, p.key, sh.name AS shard, s.pending, s.future, s.in_flight, s.due_at, s.paused, p.context, s.admitted, s.denial,
           s.checked_at, s.touched_at, p.created_at, s.recent, s.recent_at, s.gates::jsonb AS gates, p.id AS partition_id
      FROM fairgate.partition p JOIN fairgate.partition_state s USING (id)
      JOIN fairgate.policy pol ON pol.id = p.policy_id JOIN fairgate.shard sh ON sh.id = p.shard_id;

CREATE VIEW fairgate.staged_jobs AS
    SELECT s.job_id, pol.name AS policy, s.partition_key, s.task, s.priority, s.run_at, s.staged_at, s.ready, s.queue_name, s.max_attempts,
           s.payload, fairgate.job_context(s.priority, s.queue_name, s.context) AS context, s.forward_attempts, s.forward_error, s.partition_id
      FROM fairgate.staged s JOIN fairgate.policy pol ON pol.id = s.policy_id;

CREATE VIEW fairgate.inflight AS
    SELECT f.admission_id, f.job_id, pol.name AS policy, p.key AS partition_key, f.admitted_at, f.started_at, f.limits, f.forced, f.beat_at,
           q.name AS queue, f.queue_job_id, f.partition_id
      FROM fairgate.in_flight f JOIN fairgate.policy pol ON pol.id = f.policy_id JOIN fairgate.queue q ON q.id = f.queue_id
      LEFT JOIN fairgate.partition p ON p.id = f.partition_id;

CREATE VIEW fairgate.quarantine AS
    SELECT x.job_id, pol.name AS policy, x.partition_key, x.task, x.priority, x.run_at, x.staged_at, x.error, x.forward_attempts, x.quarantined_at,
           x.payload, fairgate.job_context(x.priority, x.queue_name, x.context) AS context, x.queue_name, x.max_attempts
      FROM fairgate.quarantined x JOIN fairgate.policy pol ON pol.id = x.policy_id;

CREATE VIEW fairgate.tick_samples AS
    SELECT t.id, t.at, pol.name AS policy, sh.name AS shard, (extract(epoch FROM t.duration) * 1000)::float8 AS duration_ms,
           t.partitions_seen, t.partitions_admitted, t.partitions_denied, t.jobs_admitted, t.failures, t.pending, t.in_flight, t.denials
      FROM fairgate.tick_sample t JOIN fairgate.shard sh ON sh.id = t.shard_id JOIN fairgate.policy pol ON pol.id = sh.policy_id;

-- Only the outer functions are for everybody who may use the schema.
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA fairgate FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    fairgate.stage(text, text, json, jsonb, text, int, timestamptz, text, text, int),
    fairgate.stage_many(text, json), fairgate.cancel(uuid),
    fairgate.stage_rows(text, text[], json[], jsonb[], text[], int[], timestamptz[], text[], text[], int[], bigint),
    fairgate.started(uuid), fairgate.heartbeat(uuid), fairgate.finished(uuid, text) TO PUBLIC;
