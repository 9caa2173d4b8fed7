-- What is complete stays complete. $1 kind, $2 id, $3 lease, $4 error, $5 how long to wait.
UPDATE pushfeed.entity
   SET state = CASE state WHEN 'complete' THEN state ELSE 'retryable_failure' END, attempts = attempts + 1, last_error = $4,
       next_retry_at = now() + $5::interval
 WHERE kind = $1 AND id = $2 AND next_retry_at = $3
