-- What was given up for want of budget, and is mentioned by a new event, is eligible again. $1 kinds, $2 ids, $3 whether a new event mentions it.
UPDATE pushfeed.entity e SET state = 'pending', attempts = 0, last_error = NULL, next_retry_at = NULL, not_found_at = NULL
  FROM unnest($1::text[], $2::bigint[], $3::boolean[]) AS m (kind, id, new)
 WHERE m.new AND e.kind = m.kind AND e.id = m.id AND e.state = 'skipped_budget'
