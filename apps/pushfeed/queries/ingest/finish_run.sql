-- $1 id, $2 outcome, $3 error, $4.. counts.
UPDATE pushfeed.run
   SET finished_at = clock_timestamp(), outcome = $2, error = $3, pages = $4, seen = $5, created = $6, duplicates = $7, quarantined = $8,
       ignored = $9, failed = $10, reactivated = $11
 WHERE id = $1
RETURNING finished_at
