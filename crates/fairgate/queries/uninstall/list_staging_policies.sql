-- Policies with staged jobs, and the reason why their queue takes none, if so.
SELECT p.id, p.name, q.name AS queue, CASE WHEN NOT q.ready THEN q.not_ready_reason END AS problem
  FROM fairgate.policy p JOIN fairgate.queue q ON q.id = p.queue_id
 WHERE EXISTS (SELECT FROM fairgate.staged s WHERE s.policy_id = p.id)
 ORDER BY p.name
