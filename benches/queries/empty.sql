TRUNCATE fairgate.staged, fairgate.delta, fairgate.in_flight, fairgate.partition, fairgate.partition_state, fairgate.tick_sample, bench.lean,
    bench.raw_staged, graphile_worker._private_jobs CASCADE
