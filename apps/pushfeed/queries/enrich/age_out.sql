-- Never enriched, last seen too long ago, and not leased or put off: given up. $1 how long it was eligible, $2 rows at most.
UPDATE pushfeed.entity e SET state = 'skipped_budget', next_retry_at = NULL
  FROM (SELECT kind, id FROM pushfeed.entity
         WHERE state IN ('pending', 'retryable_failure') AND coalesce(last_seen_at, created_at) < now() - $1::interval
           AND (next_retry_at IS NULL OR next_retry_at <= now())
         ORDER BY coalesce(last_seen_at, created_at) LIMIT $2 FOR UPDATE SKIP LOCKED) o
 WHERE e.kind = o.kind AND e.id = o.id
