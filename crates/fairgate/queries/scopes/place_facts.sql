-- What a claim of partitions with scopes needs besides: read of rows that this transaction has locked.
SELECT s.id, s.scopes, s.woken, s.context_seq, CASE WHEN isfinite(s.due_at) THEN coalesce(s.waiting_since, s.due_at) ELSE s.waiting_since END AS since
  FROM fairgate.partition_state s WHERE s.id = ANY ($1)
