-- Policies that came from a file and are in it no more ($1: the names that are).
UPDATE fairgate.policy SET retired = true WHERE source = 'file' AND NOT retired AND name <> ALL ($1) RETURNING name
