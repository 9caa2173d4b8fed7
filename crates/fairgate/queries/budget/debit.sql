-- Under the budget's lock; every check that the decision made is made again. $1 budget, $2 class, $3 member, $4 now, $5 window, $6 whether the
-- class may go before the server has told of the window, $7 reserve, $8 the class's allowance, $9 the account's guarantee, $10 whether it borrows;
-- what the row becomes: $11 opened_at, $12 request_limit, $13 remaining, $14 reset_at, $15 blocked_until, $16 block_reason.
WITH spent AS (
    UPDATE fairgate.budget_use u SET used = u.used + 1
      FROM fairgate.budget b
     WHERE b.name = $1 AND u.budget = $1 AND u.class = $2 AND u.member = $3
       AND b.window_number = $5
       AND (b.blocked_until IS NULL OR b.blocked_until <= $4)
       AND (b.reset_at IS NOT NULL OR $6)
       AND (b.remaining IS NULL OR b.remaining > $7)
       AND (SELECT sum(c.used) FROM fairgate.budget_use c WHERE c.budget = $1 AND c.class = $2) < $8
       AND (u.used < $9 OR $10)
    RETURNING u.used)
UPDATE fairgate.budget b
   SET opened_at = $11, request_limit = $12, remaining = $13, reset_at = $14, blocked_until = $15, block_reason = $16
 WHERE b.name = $1 AND EXISTS (SELECT FROM spent)
