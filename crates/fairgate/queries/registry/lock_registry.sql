-- One apply at a time.
SELECT pg_advisory_xact_lock(1181114741, 0)
