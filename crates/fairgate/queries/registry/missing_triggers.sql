-- Names of our triggers that do not stand, or do not fire, on the tables of a queue ($1 schema; $2 tables and $3 triggers, side by side).
SELECT w.name
  FROM unnest($2::text[], $3::text[]) w (tab, name)
 WHERE NOT EXISTS (
       SELECT FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = $1 AND c.relname = w.tab AND t.tgname = w.name AND t.tgenabled IN ('O', 'A'))
 ORDER BY 1
