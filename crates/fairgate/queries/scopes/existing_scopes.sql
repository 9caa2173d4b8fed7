-- Of these scopes, those that have a row.
SELECT s.id FROM fairgate.scope s WHERE s.id = ANY ($1)
