DELETE FROM {schema}.jobs WHERE id = $1 AND state = 'waiting'
