-- $1 name, $2 size in bytes. How many lines were read before, and whether that is all.
INSERT INTO pushfeed.archive_file AS f (name, bytes) VALUES ($1, $2)
ON CONFLICT (name, bytes) DO UPDATE SET started_at = f.started_at
RETURNING lines, finished_at IS NOT NULL
