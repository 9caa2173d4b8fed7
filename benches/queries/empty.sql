TRUNCATE fairgate.staged, fairgate.delta, fairgate.in_flight, fairgate.partition, fairgate.partition_state, fairgate.tick_sample, fairgate.ticker, bench.lean,
    bench.raw_staged, graphile_worker._private_jobs CASCADE
