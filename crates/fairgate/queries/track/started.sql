SELECT fairgate.started($1)
