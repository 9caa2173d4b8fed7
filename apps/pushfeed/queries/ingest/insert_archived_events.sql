-- $1.. columns of pushes, without a run.
INSERT INTO pushfeed.push_event (received_at, github_id, created_at, actor_id, repository_id, push_id, ref, head, before, public, raw)
SELECT now(), e.github_id, e.created_at, e.actor_id, e.repository_id, e.push_id, e.ref, e.head, e.before, e.public, e.raw::json
  FROM unnest($1::bigint[], $2::timestamptz[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::boolean[], $10::text[])
       AS e (github_id, created_at, actor_id, repository_id, push_id, ref, head, before, public, raw)
ON CONFLICT ON CONSTRAINT one_event_is_one_row DO NOTHING
