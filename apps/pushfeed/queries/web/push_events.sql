-- $1 cursor, $2 how many, $3 actor, $4 repository, $5 ref; null: any. The cursor of the next page is the last id, null when there is no more.
WITH page AS (
    SELECT id, github_id, created_at, received_at, actor_id, repository_id, push_id, ref, head, before, public
      FROM pushfeed.push_event
     WHERE ($1::bigint IS NULL OR id < $1) AND ($3::bigint IS NULL OR actor_id = $3) AND ($4::bigint IS NULL OR repository_id = $4)
       AND ($5::text IS NULL OR ref = $5)
     ORDER BY id DESC LIMIT $2)
SELECT json_build_object('push_events', coalesce((SELECT json_agg(row_to_json(page) ORDER BY id DESC) FROM page), '[]'),
                         'next_cursor', (SELECT CASE WHEN count(*) = $2 THEN min(id) END FROM page))::text
