-- Whether a table ($1) is there, and the comment on it.
SELECT to_regclass($1) IS NOT NULL, obj_description(to_regclass($1), 'pg_class')
