-- A document that is stored is kept. $1 kind, $2 id, $3 lease, $4 error.
UPDATE pushfeed.entity SET state = 'permanent_failure', attempts = attempts + 1, last_error = $4, next_retry_at = NULL
 WHERE kind = $1 AND id = $2 AND next_retry_at = $3
