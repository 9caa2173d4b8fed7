-- Sessions of this database whose snapshot is over a minute old.
SELECT a.pid, concat_ws(', ', nullif(a.usename::text, ''), nullif(a.application_name, ''), a.state),
       extract(epoch FROM clock_timestamp() - a.xact_start)::float8, left(regexp_replace(a.query, '\s+', ' ', 'g'), 120)
  FROM pg_catalog.pg_stat_activity a
 WHERE a.datname = current_database() AND a.backend_xmin IS NOT NULL AND a.xact_start < clock_timestamp() - interval '1 minute'
   AND a.pid <> pg_backend_pid() AND a.query NOT ILIKE 'autovacuum:%'
 ORDER BY a.xact_start LIMIT 5
