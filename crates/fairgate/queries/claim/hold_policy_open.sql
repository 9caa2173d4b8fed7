-- Shared: ticks run side by side, and pause and apply, which take the exclusive one, wait for those that have begun. False while one of these
-- holds it or waits for it: a tick that waited behind them would hold up every other policy, for as long as a frozen ticker does.
-- Beside it how many jobs wait in queue $2, counted up to $3.
SELECT pg_try_advisory_xact_lock_shared(1181114740, $1), (SELECT count(*) FROM (SELECT FROM fairgate.in_flight f WHERE f.queue_id = $2 AND f.waiting LIMIT $3) w)
