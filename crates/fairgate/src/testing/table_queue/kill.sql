UPDATE {schema}.jobs SET state = 'dead', attempts = max_attempts, last_error = $2 WHERE id = $1 AND state = 'running'
