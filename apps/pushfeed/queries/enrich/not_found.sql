-- A search did not find it; but for that the row is as it was before its lease. $1 kind, $2 id, $3 lease, $4 what stood there.
UPDATE pushfeed.entity SET next_retry_at = $4, not_found_at = now() WHERE kind = $1 AND id = $2 AND next_retry_at = $3
