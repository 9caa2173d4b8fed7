-- $1 jobs, $2 the places of their tenants.
INSERT INTO fairgate_demo.staged (job_id, place) SELECT * FROM unnest($1::uuid[], $2::int[])
