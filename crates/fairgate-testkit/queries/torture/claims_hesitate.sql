-- Widens the window between a claim's snapshot and its locks, where stale facts would be read: the claim looks whether fairgate is enabled
-- before it locks its first partition, and here that look takes a while now and then. No other statement waits.
CREATE TABLE torture.hesitation (probability float8 NOT NULL, most_seconds float8 NOT NULL);
INSERT INTO torture.hesitation VALUES (0.3, 0.015);

CREATE FUNCTION torture.hesitate() RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF current_query() LIKE '%FOR NO KEY UPDATE SKIP LOCKED%' THEN
        PERFORM pg_sleep(h.most_seconds * random()) FROM torture.hesitation h WHERE random() < h.probability;
    END IF;
    RETURN true;
END $$;

ALTER TABLE fairgate.engine RENAME TO engine_row;
CREATE VIEW fairgate.engine AS SELECT e.only_row, e.enabled FROM fairgate.engine_row e WHERE torture.hesitate();
