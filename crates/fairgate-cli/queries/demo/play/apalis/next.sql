-- The next job, through apalis's own function: its id and the event. What the function takes may be younger than this statement's snapshot, so
-- its ticket is asked for in another.
SELECT n.id, convert_from(n.job, 'UTF8'), NULL::text, NULL::text FROM apalis.get_jobs('fairgate demo', 'fairgate_demo_deliver', 1) n
