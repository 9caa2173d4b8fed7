-- Repositories that nobody knows yet, likewise. $1.. columns.
INSERT INTO pushfeed.entity (kind, id, full_name, name, api_url, state, created_at, first_seen_at, latest_event_at)
SELECT 'repository', s.id, s.full_name, split_part(s.full_name, '/', -1), s.api_url, 'skipped_budget', now(), now(), s.latest
  FROM unnest($1::bigint[], $2::text[], $3::text[], $4::timestamptz[]) AS s (id, full_name, api_url, latest)
ON CONFLICT (kind, id) DO NOTHING
