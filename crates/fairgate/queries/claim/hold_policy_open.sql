-- Shared: ticks run side by side; pause and apply take the exclusive one and so wait for the ticks that have begun.
SELECT pg_advisory_xact_lock_shared(1181114740, $1)
