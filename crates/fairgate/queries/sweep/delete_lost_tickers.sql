-- Rows of tickers that died without saying so.
DELETE FROM fairgate.ticker WHERE seen_at < clock_timestamp() - interval '2 minutes'
