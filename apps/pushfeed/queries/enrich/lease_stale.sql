-- The oldest document that is no longer fresh, if there is one. $1 kind, $2 how long one is fresh, $3 how long the lease is.
UPDATE pushfeed.entity e SET next_retry_at = now() + $3::interval
  FROM (SELECT kind, id, next_retry_at FROM pushfeed.entity
         WHERE kind = $1 AND state = 'complete' AND fetched_at <= now() - $2::interval AND (next_retry_at IS NULL OR next_retry_at <= now())
         ORDER BY fetched_at, id LIMIT 1 FOR UPDATE SKIP LOCKED) c
 WHERE e.kind = c.kind AND e.id = c.id
RETURNING e.id, e.api_url, e.attempts, c.next_retry_at AS before, e.next_retry_at AS lease
