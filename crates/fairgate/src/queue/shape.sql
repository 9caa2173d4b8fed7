-- One row for every column that the adapter writes or reads and that is not there as it must be: (problem text). No row: it fits.
-- $1: the schema. A schema without the tables gives the one row 'missing'. A type of NULL: any.
WITH need (tab, col, typ) AS (VALUES {columns}),
have AS (
    SELECT c.relname AS tab, a.attname AS col, t.typname AS typ
      FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relkind IN ('r', 'p')
      JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
     WHERE n.nspname = $1 AND c.relname IN (SELECT tab FROM need))
SELECT 'missing' AS problem WHERE NOT EXISTS (SELECT FROM have)
UNION ALL
SELECT format('%s.%s should be a column%s, it is %s', n.tab, n.col, ' of type ' || n.typ, coalesce('of type ' || h.typ, 'not there'))
  FROM need n LEFT JOIN have h USING (tab, col)
 WHERE EXISTS (SELECT FROM have) AND (h.col IS NULL OR h.typ <> n.typ)
