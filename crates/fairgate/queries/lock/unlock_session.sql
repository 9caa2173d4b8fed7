-- $1 name. False: this session did not hold it.
SELECT pg_advisory_unlock(hashtextextended($1, 0))
