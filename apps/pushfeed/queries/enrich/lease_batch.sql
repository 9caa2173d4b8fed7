-- The candidates last seen that no search has missed and whose names can be searched for. $1 kind, $2 how long one is eligible, $3 how long the lease is,
-- $4 what a name that can be searched for looks like, $5 how many at most.
UPDATE pushfeed.entity e SET next_retry_at = now() + $3::interval
  FROM (SELECT kind, id, next_retry_at FROM pushfeed.entity
         WHERE kind = $1 AND state IN ('pending', 'retryable_failure') AND not_found_at IS NULL AND coalesce(last_seen_at, created_at) >= now() - $2::interval
           AND (next_retry_at IS NULL OR next_retry_at <= now()) AND coalesce(login, full_name) ~ $4
         ORDER BY last_seen_at DESC NULLS LAST, id LIMIT $5 FOR UPDATE SKIP LOCKED) c
 WHERE e.kind = c.kind AND e.id = c.id
RETURNING e.id, e.api_url, e.attempts, c.next_retry_at AS before, e.next_retry_at AS lease, coalesce(e.login, e.full_name) AS name
