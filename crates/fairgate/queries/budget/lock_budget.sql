-- $1 budget. Waits for who holds it.
SELECT b.window_number, b.opened_at, b.request_limit, b.remaining, b.reset_at, b.previous_reset_at, b.blocked_until, b.block_reason, b.secondary_streak
  FROM fairgate.budget b WHERE b.name = $1 FOR NO KEY UPDATE
