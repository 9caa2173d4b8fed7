-- Actors that nobody knows yet, in key order, given up from birth: only an event of the feed makes them eligible. $1.. columns.
INSERT INTO pushfeed.entity (kind, id, login, display_login, avatar_url, api_url, state, created_at, first_seen_at, latest_event_at)
SELECT 'actor', s.id, s.login, s.display_login, s.avatar_url, s.api_url, 'skipped_budget', now(), now(), s.latest
  FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[]) AS s (id, login, display_login, avatar_url, api_url, latest)
ON CONFLICT (kind, id) DO NOTHING
