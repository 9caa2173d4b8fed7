SELECT id FROM fairgate.policy WHERE name = $1
