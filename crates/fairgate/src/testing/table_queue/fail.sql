-- $2: the error, $3: how long the queue waits before it tries again.
UPDATE {schema}.jobs SET state = CASE WHEN attempts < max_attempts THEN 'waiting' ELSE 'dead' END, last_error = $2, run_at = now() + $3::interval
 WHERE id = $1 AND state = 'running'
