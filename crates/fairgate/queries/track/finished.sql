SELECT fairgate.finished($1, $2)
