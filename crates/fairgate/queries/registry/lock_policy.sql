-- Waits for the ticks of the policy that have begun; those that come later read what this transaction writes.
SELECT pg_advisory_xact_lock(1181114740, $1)
