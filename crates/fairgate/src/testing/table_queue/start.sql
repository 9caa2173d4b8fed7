UPDATE {schema}.jobs SET state = 'running', attempts = attempts + 1 WHERE id = $1 AND state = 'waiting'
