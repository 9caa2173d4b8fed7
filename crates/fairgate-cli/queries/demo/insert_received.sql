-- $1 jobs, $2 the places of their tenants, $3 when.
INSERT INTO fairgate_demo.received (job_id, place, received_at) SELECT * FROM unnest($1::uuid[], $2::int[], $3::timestamptz[])
