-- The faulty finisher: it passes over a slot that somebody has locked at that moment.
CREATE OR REPLACE FUNCTION fairgate.release(admission uuid, outcome text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    freed uuid;
BEGIN
    DELETE FROM fairgate.in_flight f
     WHERE f.admission_id = (SELECT x.admission_id FROM fairgate.in_flight x WHERE x.admission_id = admission FOR UPDATE SKIP LOCKED)
    RETURNING f.partition_id INTO freed;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO fairgate.delta (partition_id, released) VALUES (freed, 1);
    PERFORM fairgate.wake_for_release(freed);
    RETURN true;
END $$;
