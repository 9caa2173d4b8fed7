-- $1 source, whose lock is held.
UPDATE pushfeed.run SET finished_at = clock_timestamp(), outcome = 'interrupted' WHERE source = $1 AND finished_at IS NULL
