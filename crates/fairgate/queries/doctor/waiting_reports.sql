SELECT count(*) FROM fairgate.delta
