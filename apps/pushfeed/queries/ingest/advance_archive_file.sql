-- $1 name, $2 size, $3 lines more, $4 events more.
UPDATE pushfeed.archive_file SET lines = lines + $3, created = created + $4 WHERE name = $1 AND bytes = $2
