INSERT INTO fairgate.ticker AS t (id, serves, asleep) VALUES ($1, $3, $2)
ON CONFLICT (id) DO UPDATE SET asleep = $2, seen_at = clock_timestamp()
