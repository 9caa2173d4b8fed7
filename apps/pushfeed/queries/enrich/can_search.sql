-- For each kind, actors first: whether there is a candidate that can be searched for. $1 how long one is eligible, $2 and $3 what a name of an actor and
-- of a repository that can be searched for looks like.
SELECT coalesce((SELECT true FROM pushfeed.entity e
                  WHERE e.kind = k.kind AND e.state IN ('pending', 'retryable_failure') AND e.not_found_at IS NULL
                    AND coalesce(e.last_seen_at, e.created_at) >= now() - $1::interval AND (e.next_retry_at IS NULL OR e.next_retry_at <= now())
                    AND coalesce(e.login, e.full_name) ~ k.name ORDER BY e.last_seen_at DESC NULLS LAST, e.id LIMIT 1), false)
  FROM (VALUES (1, 'actor', $2::text), (2, 'repository', $3::text)) k (place, kind, name) ORDER BY k.place
