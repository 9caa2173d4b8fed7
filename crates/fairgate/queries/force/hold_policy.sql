-- Shared, as a tick has it, but waited for: `apply` changes nothing meanwhile.
SELECT pg_advisory_xact_lock_shared(1181114740, $1)
