SELECT p.name, p.revision, p.definition::text AS definition, q.id AS queue_id, q.name AS queue, q.kind, q.schema_name, q.settings, q.identity
  FROM fairgate.policy p JOIN fairgate.queue q ON q.id = p.queue_id
 WHERE p.id = $1
