-- For people: the partitions that still count something, and the queue's jobs that are not done.
(SELECT format('partition %s of %s: pending %s, future %s, in flight %s, due %s, eligible %s, denial %s, gates %s, context %s', p.key, d.name,
        s.pending, s.future, s.in_flight, s.due_at, s.eligible_at, s.denial, s.gates, p.context)
   FROM fairgate.partition_state s JOIN fairgate.partition p USING (id) JOIN fairgate.policy d ON d.id = p.policy_id
  WHERE s.pending <> 0 OR s.future <> 0 OR s.in_flight <> 0 LIMIT 10)
UNION ALL
(SELECT format('scope %s', to_jsonb(s)) FROM fairgate.scope s WHERE s.waited OR s.in_flight <> 0 LIMIT 20)
UNION ALL
(SELECT format('waits: %s', to_jsonb(s)) FROM fairgate.partition_state s WHERE s.waiting_on IS NOT NULL LIMIT 5)
UNION ALL
(SELECT format('queue job %s: attempt %s of %s, run at %s, locked at %s by %s, %s', j.id, j.attempts, j.max_attempts, j.run_at, j.locked_at,
        j.locked_by, j.flags)
   FROM graphile_worker._private_jobs j WHERE j.attempts < j.max_attempts OR j.locked_at IS NOT NULL LIMIT 10)
UNION ALL
(SELECT format('staged job %s of partition %s: ready %s at %s, %s tries, %s', s.job_id, s.partition_key, s.ready, s.ready_at, s.forward_attempts,
        s.forward_error)
   FROM fairgate.staged s LIMIT 10)
UNION ALL
(SELECT format('report: %s', to_jsonb(d)) FROM fairgate.delta d LIMIT 10)
UNION ALL
(SELECT format('slot: %s', to_jsonb(f)) FROM fairgate.in_flight f LIMIT 10)
UNION ALL
(SELECT format('queue %s is not ready: %s', q.name, q.not_ready_reason) FROM fairgate.queue q WHERE NOT q.ready)
UNION ALL
(SELECT format('session %s (%s) is %s since %s: %s', a.pid, a.application_name, a.state, a.xact_start, left(a.query, 100))
   FROM pg_stat_activity a WHERE a.datname = current_database() AND a.xact_start < clock_timestamp() - interval '1 second')
