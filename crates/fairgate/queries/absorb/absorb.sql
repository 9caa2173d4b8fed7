SELECT seen, folded, passed_over FROM fairgate.absorb($1, $2, $3)
