-- The next job, through Procrastinate's own function: its id and the event. What the function takes may be younger than this statement's snapshot, so
-- its ticket is asked for in another.
SELECT n.id::text, n.args::text, NULL::text, NULL::text FROM procrastinate_fetch_job_v2(NULL, NULL) n WHERE n.id IS NOT NULL
