-- When each job ends, in the order of its coming: the noisy tenant's 10,000 come first, the others' 990 behind them.
DROP TABLE IF EXISTS bench.quiet, bench.ends;
CREATE TABLE bench.quiet (staged_at timestamptz);
INSERT INTO bench.quiet VALUES (NULL);
CREATE TABLE bench.ends (payload json, flags jsonb, id bigint, at timestamptz NOT NULL DEFAULT clock_timestamp());
CREATE OR REPLACE FUNCTION bench.end_of_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO bench.ends (payload, flags, id) VALUES (OLD.payload, OLD.flags, OLD.id);
    RETURN NULL;
END $$;
DROP TRIGGER IF EXISTS bench_ends ON graphile_worker._private_jobs;
CREATE TRIGGER bench_ends AFTER DELETE ON graphile_worker._private_jobs FOR EACH ROW EXECUTE FUNCTION bench.end_of_job();
