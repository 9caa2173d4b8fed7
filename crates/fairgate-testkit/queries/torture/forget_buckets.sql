-- The faulty tick: it writes back no state of its gates, and their buckets are full again.
CREATE FUNCTION torture.forget_buckets() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    NEW.gates := NULL;
    RETURN NEW;
END $$;

CREATE TRIGGER torture_forget_buckets BEFORE UPDATE ON fairgate.partition_state
    FOR EACH ROW WHEN (NEW.gates IS DISTINCT FROM OLD.gates) EXECUTE FUNCTION torture.forget_buckets();
