SELECT fairgate.promote($1, $2)
