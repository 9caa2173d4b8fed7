-- $1 our id. $2 is not used here.
SELECT row_to_json(e)::text FROM (
    SELECT id, github_id, created_at, received_at, actor_id, repository_id, push_id, ref, head, before, public, raw
      FROM pushfeed.push_event WHERE id = $1 AND $2::text IS NULL) e
