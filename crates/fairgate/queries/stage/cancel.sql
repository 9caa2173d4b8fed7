SELECT fairgate.cancel($1)
