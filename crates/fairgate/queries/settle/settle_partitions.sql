-- Writes back what the tick decided and really took, and its sample. Joined by id: the locked version's ctid may be invisible here.
-- due_again: at the back of the due order; else due_at as given.
WITH settled AS (
    UPDATE fairgate.partition_state s
       SET pending = s.pending - u.taken, in_flight = s.in_flight + u.taken, admitted = s.admitted + u.taken, gates = u.gates, lessons = NULL,
           share = coalesce(u.share, s.share), correction = CASE WHEN u.share IS NULL THEN s.correction ELSE 0 END,
           finished_jobs = CASE WHEN u.share IS NULL THEN s.finished_jobs ELSE 0 END,
           finished_seconds = CASE WHEN u.share IS NULL THEN s.finished_seconds ELSE 0 END,
           recent = u.recent, recent_at = u.recent_at, starved = u.starved, denial = u.denial, checked_at = $1, removing = NULL,
           touched_at = CASE WHEN u.taken > 0 THEN greatest(s.touched_at, $1) ELSE s.touched_at END,
           eligible_at = coalesce(u.eligible_at, '-infinity'),
           due_at = CASE WHEN s.paused THEN NULL WHEN u.due_again THEN clock_timestamp() ELSE u.due_at END
      FROM unnest($2::uuid[], $3::int[], $4::text[], $5::float8[], $6::timestamptz[], $7::boolean[], $8::text[], $9::timestamptz[],
                  $10::boolean[], $11::timestamptz[], $19::text[])
           u (id, taken, gates, recent, recent_at, starved, denial, eligible_at, due_again, due_at, share)
     WHERE s.id = u.id)
INSERT INTO fairgate.tick_sample (at, shard_id, duration, partitions_seen, partitions_admitted, partitions_denied, jobs_admitted, failures,
       pending, in_flight, denials)
SELECT $1, g.id, clock_timestamp() - now(), $13, $14, $15, $16, $17, g.pending, g.in_flight, $18::text::jsonb
  FROM fairgate.shard g WHERE g.id = $12
