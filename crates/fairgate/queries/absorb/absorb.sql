SELECT seen, folded, passed_over, EXISTS (SELECT FROM fairgate.policy p WHERE p.scopes IS NOT NULL) AS scoped FROM fairgate.absorb($1, $2, $3)
