-- For each kind, actors first: whether there is a new candidate, a stale one, and anything that was never enriched. Looked for in the order of an
-- index, so that one row is read where there is one, and none where there is none.
-- $1 how long one is eligible, $2 and $3 how long a document of an actor and of a repository is fresh.
SELECT coalesce((SELECT true FROM pushfeed.entity e
                  WHERE e.kind = k.kind AND e.state IN ('pending', 'retryable_failure') AND coalesce(e.last_seen_at, e.created_at) >= now() - $1::interval
                    AND (e.next_retry_at IS NULL OR e.next_retry_at <= now()) ORDER BY e.last_seen_at DESC NULLS LAST, e.id LIMIT 1), false) AS new,
       coalesce((SELECT true FROM pushfeed.entity e
                  WHERE e.kind = k.kind AND e.state = 'complete' AND e.fetched_at <= now() - k.ttl
                    AND (e.next_retry_at IS NULL OR e.next_retry_at <= now()) ORDER BY e.fetched_at LIMIT 1), false) AS stale,
       coalesce((SELECT true FROM pushfeed.entity e WHERE e.kind = k.kind AND e.state IN ('pending', 'retryable_failure')
                  ORDER BY e.last_seen_at DESC NULLS LAST, e.id LIMIT 1), false) AS unenriched
  FROM (VALUES (1, 'actor', $2::interval), (2, 'repository', $3::interval)) k (place, kind, ttl) ORDER BY k.place
