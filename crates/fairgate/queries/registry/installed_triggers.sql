-- Names of our triggers that stand and fire on a table ($1 schema, $2 table, $3 names).
SELECT t.tgname::text
  FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = $1 AND c.relname = $2 AND t.tgname = ANY ($3) AND t.tgenabled IN ('O', 'A')
 ORDER BY 1
