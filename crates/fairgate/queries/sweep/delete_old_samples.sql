DELETE FROM fairgate.tick_sample WHERE at < coalesce($2, clock_timestamp()) - $1::interval
