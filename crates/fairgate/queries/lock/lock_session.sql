-- $1 name. Waits as long as the session's patience.
SELECT pg_advisory_lock(hashtextextended($1, 0))
