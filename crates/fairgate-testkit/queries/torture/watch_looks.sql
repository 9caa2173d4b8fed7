-- Remembers every look at a throttled partition, and every partition that was removed. Only a tick moves checked_at.
CREATE FUNCTION torture.watch_look() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO torture.look (partition_id, gate, at, fresh, rate, burst)
    SELECT NEW.id, g.gate, NEW.checked_at, OLD.checked_at IS NULL, g.rate, g.burst
      FROM torture.gates_in_force(NEW.id) g WHERE g.kind = 'throttle';
    RETURN NULL;
END $$;

CREATE TRIGGER torture_watch_look AFTER UPDATE ON fairgate.partition_state
    FOR EACH ROW WHEN (NEW.checked_at IS DISTINCT FROM OLD.checked_at) EXECUTE FUNCTION torture.watch_look();

CREATE FUNCTION torture.watch_removals() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO torture.removal (partitions) SELECT count(*) FROM old_rows HAVING count(*) > 0;
    RETURN NULL;
END $$;

CREATE TRIGGER torture_watch_removals AFTER DELETE ON fairgate.partition_state REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION torture.watch_removals();
