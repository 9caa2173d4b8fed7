-- When the next candidate is due; null: never. $1 how long one is eligible, $2 and $3 how long a document of an actor and of a repository is fresh.
-- What will be too old by the time that it may be tried is no candidate; while anything was never enriched, nothing is refreshed.
WITH new AS (
    SELECT min(coalesce(next_retry_at, now())) FILTER (WHERE coalesce(last_seen_at, created_at) >= greatest(now(), next_retry_at) - $1::interval) AS due,
           count(*) > 0 AS any
      FROM pushfeed.entity WHERE state IN ('pending', 'retryable_failure')),
stale AS (
    SELECT min(greatest(e.due, e.next_retry_at)) AS due
      FROM (VALUES ('actor', $2::interval), ('repository', $3::interval)) k (kind, ttl)
      CROSS JOIN LATERAL (SELECT fetched_at + k.ttl AS due, next_retry_at FROM pushfeed.entity WHERE kind = k.kind AND state = 'complete'
                           ORDER BY greatest(fetched_at + k.ttl, next_retry_at) LIMIT 1) e)
SELECT CASE WHEN new.any THEN new.due ELSE stale.due END FROM new, stale
