-- $1 kind, $2 the coverage window. States are counted by the triggers of pushfeed.entity; of the table itself only what the feed told of lately is read.
-- Fewer than ten that came in an hour say nothing about keeping up.
SELECT c.*, w.seen, w.covered, w.covered::float8 / nullif(w.seen, 0) AS coverage,
       CASE WHEN w.came < 10 THEN 'insufficient_sample' WHEN w.done * 2 >= w.came THEN 'yes' ELSE 'no' END AS keeping_up
  FROM (SELECT coalesce(sum(more) FILTER (WHERE state = 'pending'), 0)::bigint AS pending, coalesce(sum(more) FILTER (WHERE state = 'complete'), 0)::bigint AS complete,
               coalesce(sum(more) FILTER (WHERE state = 'retryable_failure'), 0)::bigint AS retryable_failure,
               coalesce(sum(more) FILTER (WHERE state = 'permanent_failure'), 0)::bigint AS permanent_failure, coalesce(sum(more) FILTER (WHERE state = 'skipped_budget'), 0)::bigint AS skipped_budget
          FROM pushfeed.entity_count WHERE kind = $1) c,
       (SELECT count(*) FILTER (WHERE last_seen_at >= now() - $2::interval) AS seen,
               count(*) FILTER (WHERE last_seen_at >= now() - $2::interval AND document IS NOT NULL) AS covered,
               count(*) FILTER (WHERE first_seen_at >= now() - interval '1 hour') AS came,
               count(*) FILTER (WHERE first_seen_at >= now() - interval '1 hour' AND state IN ('complete', 'permanent_failure')) AS done
          FROM pushfeed.entity
         WHERE kind = $1 AND last_seen_at >= now() - greatest($2::interval, interval '1 hour')) w
