-- Remembers every look at a throttled partition, and every partition that was removed. Only a tick moves checked_at. The end of an override since
-- the look before counts as a look that took nothing: from there on the bucket fills by other numbers.
CREATE FUNCTION torture.watch_look() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO torture.look (partition_id, gate, at, fresh, rate, burst, ended)
    SELECT NEW.id, g.gate, x.at, OLD.checked_at IS NULL, g.rate, g.burst, x.at < NEW.checked_at
      FROM (SELECT NEW.checked_at AS at
             UNION SELECT o.until FROM fairgate.override o WHERE o.partition_id = NEW.id AND o.until > OLD.checked_at AND o.until < NEW.checked_at) x
     CROSS JOIN LATERAL torture.gates_in_force(NEW.id, x.at) g WHERE g.kind = 'throttle' ORDER BY x.at;
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
