-- The faulty claim: it reads contexts in its own snapshot, as old as that is, instead of in a newer one when it has its locks.
ALTER FUNCTION fairgate.locked_partitions(uuid[]) STABLE
