DELETE FROM fairgate.ticker WHERE id = $1
