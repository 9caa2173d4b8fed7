-- $1 kind, $2 id, $3 lease, $4 document.
UPDATE pushfeed.entity
   SET state = 'complete', attempts = 0, last_error = NULL, document = $4::json, fetched_at = now(), next_retry_at = NULL
 WHERE kind = $1 AND id = $2 AND next_retry_at = $3
