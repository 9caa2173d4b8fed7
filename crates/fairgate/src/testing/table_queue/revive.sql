UPDATE {schema}.jobs SET state = 'waiting', attempts = 0, run_at = now() WHERE id = $1 AND state = 'dead'
