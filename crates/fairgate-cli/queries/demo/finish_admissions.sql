-- Slots of an earlier demo whose jobs the queue no longer has. $1 its policies.
SELECT count(*) FILTER (WHERE fairgate.finished(f.admission_id, 'ignored')) FROM fairgate.inflight f WHERE f.policy = ANY ($1)
