INSERT INTO torture.cancelled (job_id) SELECT $1 WHERE fairgate.cancel($1)
