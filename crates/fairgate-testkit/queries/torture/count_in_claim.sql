-- The faulty claim: every reader of partition_state, so also the engine's own claim, gets COUNT(*) of the slots instead of the counter.
-- The claim's row locks go through the view to the rows; the count is a part of its statement and so of its snapshot.
ALTER TABLE fairgate.partition_state RENAME TO partition_row;

CREATE VIEW fairgate.partition_state AS
    SELECT s.id, s.shard_id, (SELECT count(*) FROM fairgate.in_flight f WHERE f.partition_id = s.id)::int AS in_flight, s.due_at, s.eligible_at,
           s.checked_at, s.touched_at, s.pending, s.future, s.admitted, s.context_seq, s.recent, s.recent_at, s.starved, s.paused, s.denial,
           s.removing, s.gates, s.lessons, s.share, s.correction, s.finished_jobs, s.finished_seconds, s.scopes, s.waiting_on, s.waiting_since, s.woken
      FROM fairgate.partition_row s;

-- Writes what a statement changed, and leaves the counter alone.
CREATE FUNCTION torture.write_partition() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE fairgate.partition_row s
       SET due_at = NEW.due_at, eligible_at = NEW.eligible_at, checked_at = NEW.checked_at, touched_at = NEW.touched_at,
           pending = s.pending + NEW.pending - OLD.pending, future = s.future + NEW.future - OLD.future,
           admitted = s.admitted + NEW.admitted - OLD.admitted, context_seq = NEW.context_seq, recent = NEW.recent,
           recent_at = NEW.recent_at, starved = NEW.starved, paused = NEW.paused, denial = NEW.denial, removing = NEW.removing, gates = NEW.gates,
           lessons = NEW.lessons, share = NEW.share, correction = NEW.correction, finished_jobs = NEW.finished_jobs,
           finished_seconds = NEW.finished_seconds, scopes = NEW.scopes, waiting_on = NEW.waiting_on, waiting_since = NEW.waiting_since, woken = NEW.woken
     WHERE s.id = NEW.id;
    RETURN NEW;
END $$;

CREATE TRIGGER torture_write_partition INSTEAD OF UPDATE ON fairgate.partition_state
    FOR EACH ROW EXECUTE FUNCTION torture.write_partition();
