SELECT (SELECT count(*) FROM fairgate.staged) + (SELECT count(*) FROM graphile_worker._private_jobs WHERE attempts < max_attempts)
