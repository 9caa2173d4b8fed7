-- Under the source's session lock. $1 name, $2.. its columns.
UPDATE pushfeed.source
   SET out_of_service = $2, etag = $3, last_finished_at = $4, last_succeeded_at = $5, floor_seconds = $6, floor_until = $7, failures = $8, backoff_until = $9
 WHERE name = $1
