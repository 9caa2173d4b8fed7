-- Widens the window between a claim's snapshot and its locks, where stale facts would be read: the claim looks whether fairgate is enabled
-- before it locks its first partition, and here that look takes up to 15 ms now and then. No other statement waits.
CREATE FUNCTION torture.hesitate() RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF current_query() LIKE '%FOR NO KEY UPDATE SKIP LOCKED%' AND random() < 0.3 THEN
        PERFORM pg_sleep(random() * 0.015);
    END IF;
    RETURN true;
END $$;

ALTER TABLE fairgate.engine RENAME TO engine_row;
CREATE VIEW fairgate.engine AS SELECT e.only_row, e.enabled FROM fairgate.engine_row e WHERE torture.hesitate();
