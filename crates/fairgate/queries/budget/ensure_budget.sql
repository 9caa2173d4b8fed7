-- $1 budget, $2 classes, $3 members, '' for undivided classes. Accounts that are there keep what they have spent.
WITH made AS (INSERT INTO fairgate.budget (name) VALUES ($1) ON CONFLICT DO NOTHING)
INSERT INTO fairgate.budget_use (budget, class, member)
SELECT $1, class, member FROM unnest($2::text[], $3::text[]) AS lane (class, member)
ON CONFLICT DO NOTHING
