-- Fails where an expression of the configuration does not fit the tables. Nothing is written and no row is read.
SELECT ({state}) AS state, {back}, ({attempts})::int, ({failed}) FROM {table} r LIMIT 0;
EXPLAIN WITH taken AS MATERIALIZED (
    SELECT NULL::uuid AS admission_id, NULL::uuid AS job_id, NULL::text AS policy, NULL::text AS partition_key, NULL::text AS task, NULL::json AS payload,
           0 AS priority, NULL::text AS queue_name, 0 AS attempts, NULL::int AS max_attempts, NULL::text AS last_error, NULL::text AS dedupe_key,
           NULL::timestamptz AS run_at, NULL::{id_type} AS queue_id
     WHERE false),
{enqueue}
SELECT count(*) FROM nudged
