SELECT seen, folded, passed_over FROM fairgate.absorb_scopes($1, $2, $3)
