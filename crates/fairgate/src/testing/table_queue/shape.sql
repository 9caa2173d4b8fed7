-- $1: the schema. The table makes itself, so there is nothing else to compare.
SELECT 'missing'::text AS problem WHERE to_regclass(format('%I.jobs', $1::text)) IS NULL
