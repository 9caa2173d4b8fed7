-- $1 run, $2 received at, $3.. columns of pushes. Returns those that were not there.
INSERT INTO pushfeed.push_event (run_id, received_at, github_id, created_at, actor_id, repository_id, push_id, ref, head, before, public, raw)
SELECT $1, $2, e.github_id, e.created_at, e.actor_id, e.repository_id, e.push_id, e.ref, e.head, e.before, e.public, e.raw::json
  FROM unnest($3::bigint[], $4::timestamptz[], $5::bigint[], $6::bigint[], $7::bigint[], $8::text[], $9::text[], $10::text[], $11::boolean[], $12::text[])
       AS e (github_id, created_at, actor_id, repository_id, push_id, ref, head, before, public, raw)
ON CONFLICT ON CONSTRAINT one_event_is_one_row DO NOTHING
RETURNING github_id, created_at
