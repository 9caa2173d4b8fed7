SELECT e.enabled, (SELECT count(*) FROM fairgate.ticker t WHERE t.seen_at > clock_timestamp() - interval '1 minute'),
       (SELECT count(*) FROM fairgate.delta), (SELECT count(*) FROM fairgate.quarantined), (SELECT count(*) FROM fairgate.lost_key)
  FROM fairgate.engine e
