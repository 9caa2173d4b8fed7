-- Under the budget's lock. $1 budget, $2..$10 its columns, $11 classes, $12 members, $13 what each has used.
WITH used AS (
    UPDATE fairgate.budget_use u SET used = lane.used
      FROM unnest($11::text[], $12::text[], $13::int[]) AS lane (class, member, used)
     WHERE u.budget = $1 AND u.class = lane.class AND u.member = lane.member AND u.used <> lane.used)
UPDATE fairgate.budget
   SET window_number = $2, opened_at = $3, request_limit = $4, remaining = $5, reset_at = $6, previous_reset_at = $7,
       blocked_until = $8, block_reason = $9, secondary_streak = $10
 WHERE name = $1
