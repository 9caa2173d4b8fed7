-- Ends one session of this database other than this one ($1: which, from 0 to 1).
WITH others AS MATERIALIZED (
    SELECT a.pid, row_number() OVER (ORDER BY a.pid) - 1 AS place, count(*) OVER () AS all_of_them
      FROM pg_stat_activity a WHERE a.datname = current_database() AND a.pid <> pg_backend_pid())
SELECT count(*) FILTER (WHERE pg_terminate_backend(o.pid)) FROM others o WHERE o.place = floor($1 * o.all_of_them)
