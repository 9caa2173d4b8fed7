-- Admissions that end a stretch of time in which more were admitted than burst + rate * time, over every stretch that begins and ends with
-- an admission, in whole microseconds. With x(n) = n - rate * t(n), the n-th at t(n), the stretch from i to j holds too many if and only if
-- x(j) - x(i) + 1 > burst; so the least x up to j is the one to compare with. All is multiplied by a million, to stay in integers.
WITH numbered AS (
    SELECT r.policy, r.tenant, r.rate_per_second AS rate, r.burst, a.partition_id, a.admitted_at,
           row_number() OVER (PARTITION BY a.partition_id ORDER BY a.admitted_at, a.seq) AS n,
           (extract(epoch FROM a.admitted_at - min(a.admitted_at) OVER (PARTITION BY a.partition_id)) * 1000000)::bigint AS t
      FROM fairgate_demo.admitted a JOIN fairgate_demo.rule r ON r.partition_id = a.partition_id
     WHERE r.rate_per_second IS NOT NULL),
placed AS (
    SELECT *, n * 1000000 - rate * t AS x FROM numbered),
stretches AS (
    SELECT *, x - min(x) OVER (PARTITION BY partition_id ORDER BY n ROWS UNBOUNDED PRECEDING) + 1000000 - burst * 1000000 AS excess FROM placed),
wrong AS (
    SELECT * FROM stretches WHERE excess > 0)
SELECT count(*), (SELECT format('%s %s: %s more than %s at once and %s a second allow, at %s', w.policy, w.tenant,
                                round(w.excess / 1000000.0, 3), w.burst, w.rate, w.admitted_at)
                    FROM wrong w ORDER BY w.excess DESC, w.n LIMIT 1)
  FROM wrong
