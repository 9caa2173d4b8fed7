SELECT (SELECT count(*) FROM fairgate.policy) AS policies, (SELECT count(*) FROM fairgate.staged) AS staged,
       (SELECT count(*) FROM fairgate.in_flight) AS in_flight, (SELECT count(*) FROM fairgate.quarantined) AS quarantined,
       (SELECT count(*) FROM fairgate.ticker t WHERE t.seen_at > clock_timestamp() - interval '1 minute') AS tickers
