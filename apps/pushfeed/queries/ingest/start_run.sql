-- $1 id, $2 source, $3 forced.
INSERT INTO pushfeed.run (id, source, forced, started_at) VALUES ($1, $2, $3, clock_timestamp())
