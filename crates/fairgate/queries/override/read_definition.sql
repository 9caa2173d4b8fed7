SELECT definition::text FROM fairgate.policy WHERE id = $1
