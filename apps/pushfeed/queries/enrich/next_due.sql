-- When the next candidate is due; null: never; the epoch: now. $1 how long one is eligible, $2 and $3 how long a document of an actor and of a
-- repository is fresh. What will be too old by the time that it may be tried is no candidate; while anything was never enriched, nothing is refreshed.
SELECT CASE WHEN (SELECT true FROM pushfeed.entity WHERE state IN ('pending', 'retryable_failure') ORDER BY coalesce(last_seen_at, created_at) LIMIT 1)
       THEN coalesce(
           (SELECT 'epoch'::timestamptz FROM pushfeed.entity
             WHERE state IN ('pending', 'retryable_failure') AND coalesce(last_seen_at, created_at) >= now() - $1::interval
               AND (next_retry_at IS NULL OR next_retry_at <= now()) ORDER BY coalesce(last_seen_at, created_at) LIMIT 1),
           (SELECT min(next_retry_at) FROM pushfeed.entity
             WHERE next_retry_at > now() AND state IN ('pending', 'retryable_failure') AND coalesce(last_seen_at, created_at) >= next_retry_at - $1::interval))
       ELSE (SELECT least(
           min((SELECT e.fetched_at + k.ttl FROM pushfeed.entity e
                 WHERE e.kind = k.kind AND e.state = 'complete' AND (e.next_retry_at IS NULL OR e.next_retry_at <= e.fetched_at + k.ttl)
                 ORDER BY e.fetched_at LIMIT 1)),
           min((SELECT min(e.next_retry_at) FROM pushfeed.entity e
                 WHERE e.kind = k.kind AND e.state = 'complete' AND e.next_retry_at > e.fetched_at + k.ttl)))
           FROM (VALUES ('actor', $2::interval), ('repository', $3::interval)) k (kind, ttl)) END
