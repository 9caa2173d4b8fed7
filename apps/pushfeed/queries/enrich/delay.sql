-- Nothing but the time changes. $1 kind, $2 id, $3 lease, $4 how long to wait.
UPDATE pushfeed.entity SET next_retry_at = now() + $4::interval WHERE kind = $1 AND id = $2 AND next_retry_at = $3
