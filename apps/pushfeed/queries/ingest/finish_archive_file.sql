-- $1 name, $2 size.
UPDATE pushfeed.archive_file SET finished_at = now() WHERE name = $1 AND bytes = $2
