-- What the engine told of itself and nobody looks at any more: samples of ticks, and keys that retries lost. $1 kept for, $2 now.
WITH lost AS (
    DELETE FROM fairgate.lost_key WHERE at < coalesce($2, clock_timestamp()) - $1::interval)
DELETE FROM fairgate.tick_sample WHERE at < coalesce($2, clock_timestamp()) - $1::interval
