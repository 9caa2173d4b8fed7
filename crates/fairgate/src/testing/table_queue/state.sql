SELECT state FROM {schema}.jobs WHERE id = $1
