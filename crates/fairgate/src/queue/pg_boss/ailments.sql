-- Jobs that wait for a queue which pg-boss does not have: its insert raises, and they end in quarantine.
SELECT format('%s staged jobs of policy "%s" go to queue "%s", which pg-boss does not have', count(*), p.name, coalesce(s.queue_name, s.task)),
       'create it: await boss.createQueue(''' || coalesce(s.queue_name, s.task) || ''')'
  FROM fairgate.staged s JOIN fairgate.policy p ON p.id = s.policy_id JOIN fairgate.queue f ON f.id = p.queue_id
 WHERE f.kind = 'pg_boss' AND f.schema_name = {text}
   AND NOT EXISTS (SELECT FROM {schema}.queue q WHERE q.name = coalesce(s.queue_name, s.task))
 GROUP BY p.name, coalesce(s.queue_name, s.task)
