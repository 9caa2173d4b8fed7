-- For each kind, actors first: whether there is a new candidate, a stale one, and anything that was never enriched.
-- $1 how long one is eligible, $2 and $3 how long a document of an actor and of a repository is fresh.
SELECT EXISTS (SELECT FROM pushfeed.entity e
                WHERE e.kind = k.kind AND e.state IN ('pending', 'retryable_failure') AND coalesce(e.last_seen_at, e.created_at) >= now() - $1::interval
                  AND (e.next_retry_at IS NULL OR e.next_retry_at <= now())) AS new,
       EXISTS (SELECT FROM pushfeed.entity e
                WHERE e.kind = k.kind AND e.state = 'complete' AND e.fetched_at <= now() - k.ttl
                  AND (e.next_retry_at IS NULL OR e.next_retry_at <= now())) AS stale,
       EXISTS (SELECT FROM pushfeed.entity e WHERE e.kind = k.kind AND e.state IN ('pending', 'retryable_failure')) AS unenriched
  FROM (VALUES (1, 'actor', $2::interval), (2, 'repository', $3::interval)) k (place, kind, ttl) ORDER BY k.place
