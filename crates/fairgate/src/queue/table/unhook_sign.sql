DROP TRIGGER IF EXISTS fairgate_sign_{number} ON {other};
