-- Holds one session's claim between its snapshot and its locks, for as long as another session holds advisory lock 7: the claim looks
-- whether fairgate is enabled before it locks its first partition.
CREATE FUNCTION torture.wait_for_release() RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF current_setting('application_name') = 'held claim' AND current_query() LIKE '%FOR NO KEY UPDATE SKIP LOCKED%' THEN
        PERFORM pg_advisory_lock_shared(7);
        PERFORM pg_advisory_unlock_shared(7);
    END IF;
    RETURN true;
END $$;

ALTER TABLE fairgate.engine RENAME TO engine_row;
CREATE VIEW fairgate.engine AS SELECT e.only_row, e.enabled FROM fairgate.engine_row e WHERE torture.wait_for_release();
