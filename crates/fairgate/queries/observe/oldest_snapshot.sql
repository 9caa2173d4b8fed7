-- The session of this database whose snapshot is the oldest, and who that is.
SELECT date_part('epoch', clock_timestamp() - a.xact_start)::float8,
       concat_ws(', ', 'pid ' || a.pid, nullif(a.usename::text, ''), nullif(a.application_name, ''), a.state)
  FROM pg_catalog.pg_stat_activity a
 WHERE a.datname = current_database() AND a.backend_xmin IS NOT NULL AND a.xact_start IS NOT NULL AND a.pid <> pg_backend_pid()
   AND a.query NOT ILIKE 'autovacuum:%'
 ORDER BY a.xact_start LIMIT 1
