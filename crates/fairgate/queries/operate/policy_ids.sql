SELECT id FROM fairgate.policy ORDER BY id
