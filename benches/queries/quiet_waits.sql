-- Without fairgate there are no flags; then the queue's ids tell: the last 990 are theirs.
SELECT extract(epoch FROM e.at - q.staged_at)::float8
  FROM bench.quiet q, (SELECT x.*, row_number() OVER (ORDER BY x.id DESC) AS from_last FROM bench.ends x) e
 WHERE CASE WHEN e.flags ? 'fairgate' THEN e.flags #>> '{fairgate,p}' <> 'noisy' ELSE e.from_last <= 990 END
 ORDER BY 1
