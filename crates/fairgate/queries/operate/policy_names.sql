SELECT name FROM fairgate.policy ORDER BY retired, name
