-- Batches with headers came with PGMQ 1.5.
SELECT 'the function send_batch(text, jsonb[], jsonb[], timestamptz) is not there: PGMQ 1.5 or newer is needed'
 WHERE EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'meta')
   AND to_regprocedure(format('%I.send_batch(text, jsonb[], jsonb[], timestamptz)', $1)) IS NULL
