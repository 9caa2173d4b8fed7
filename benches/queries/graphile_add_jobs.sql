SELECT count(*) FROM graphile_worker.add_jobs((SELECT b.specs FROM bench.batch b WHERE b.batch = $1))
