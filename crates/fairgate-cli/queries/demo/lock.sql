-- One demo at a time in a database; the lock goes with the session.
SELECT pg_try_advisory_lock(1181114740, hashtext('fairgate demo'))
