SELECT count(*) FILTER (WHERE t.seen_at > clock_timestamp() - interval '1 minute'), EXISTS (SELECT FROM fairgate.staged WHERE ready)
  FROM fairgate.ticker t
