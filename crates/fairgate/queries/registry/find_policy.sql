-- What is registered under a name, and whether this definition is it, or was it once.
SELECT p.id, p.revision, p.retired, p.definition = $2::text::jsonb AS same,
       EXISTS (SELECT FROM fairgate.policy_revision r WHERE r.policy_id = p.id AND r.definition = $2::text::jsonb) AS known
  FROM fairgate.policy p WHERE p.name = $1
