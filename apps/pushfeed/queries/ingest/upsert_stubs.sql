-- $1 received at, $2.. columns of stubs in key order, $10 the latest new event of each, null where all were duplicates. A mention refreshes what
-- it tells and clears nothing; only a new event moves activity.
INSERT INTO pushfeed.entity AS e (kind, id, login, display_login, avatar_url, full_name, name, api_url, created_at, first_seen_at, last_seen_at, latest_event_at)
SELECT s.kind, s.id, s.login, s.display_login, s.avatar_url, s.full_name, s.name, s.api_url, $1,
       CASE WHEN s.latest_new IS NOT NULL THEN $1 END, CASE WHEN s.latest_new IS NOT NULL THEN $1 END, s.latest_new
  FROM unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::timestamptz[])
       WITH ORDINALITY AS s (kind, id, login, display_login, avatar_url, full_name, name, api_url, latest_new, place)
 ORDER BY s.place
ON CONFLICT (kind, id) DO UPDATE
   SET login = coalesce(excluded.login, e.login), display_login = coalesce(excluded.display_login, e.display_login),
       avatar_url = coalesce(excluded.avatar_url, e.avatar_url), full_name = coalesce(excluded.full_name, e.full_name),
       name = coalesce(excluded.name, e.name), api_url = coalesce(excluded.api_url, e.api_url),
       first_seen_at = coalesce(e.first_seen_at, excluded.first_seen_at),
       last_seen_at = greatest(e.last_seen_at, excluded.last_seen_at),
       latest_event_at = greatest(e.latest_event_at, excluded.latest_event_at)
