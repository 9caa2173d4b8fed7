-- $1 kind, $2 the coverage window. Fewer than ten that came in an hour say nothing about keeping up.
SELECT count(*) FILTER (WHERE state = 'pending') AS pending, count(*) FILTER (WHERE state = 'complete') AS complete,
       count(*) FILTER (WHERE state = 'retryable_failure') AS retryable_failure, count(*) FILTER (WHERE state = 'permanent_failure') AS permanent_failure,
       count(*) FILTER (WHERE state = 'skipped_budget') AS skipped_budget,
       count(*) FILTER (WHERE last_seen_at >= now() - $2::interval) AS seen,
       count(*) FILTER (WHERE last_seen_at >= now() - $2::interval AND document IS NOT NULL) AS covered,
       (count(*) FILTER (WHERE last_seen_at >= now() - $2::interval AND document IS NOT NULL))::float8
           / nullif(count(*) FILTER (WHERE last_seen_at >= now() - $2::interval), 0) AS coverage,
       CASE WHEN count(*) FILTER (WHERE first_seen_at >= now() - interval '1 hour') < 10 THEN 'insufficient_sample'
            WHEN count(*) FILTER (WHERE first_seen_at >= now() - interval '1 hour' AND state IN ('complete', 'permanent_failure')) * 2
                 >= count(*) FILTER (WHERE first_seen_at >= now() - interval '1 hour') THEN 'yes'
            ELSE 'no' END AS keeping_up
  FROM pushfeed.entity WHERE kind = $1
