-- $1 budget, $2 classes, $3 members, $4 now, or null for the database's clock. One row for each account, in the order given; an account that is
-- not there has spent nothing.
SELECT coalesce(u.used, 0) AS used, coalesce($4, clock_timestamp()) AS now
  FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS lane (class, member, place)
  LEFT JOIN fairgate.budget_use u ON u.budget = $1 AND u.class = lane.class AND u.member = lane.member
 ORDER BY place
