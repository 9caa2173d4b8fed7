-- What a job carries while we have it. payload: as it was given, up to $2 characters.
SELECT 'staged' AS place, j.task, left(j.payload::text, $2) AS payload, length(j.payload::text)::bigint AS payload_chars, left(j.context::text, $2) AS context,
       j.queue_name, j.dedupe_key, j.attempts, j.max_attempts, j.last_error
  FROM fairgate.staged j WHERE j.job_id = $1
UNION ALL
SELECT 'quarantined', x.task, left(x.payload::text, $2), length(x.payload::text)::bigint, left(x.context::text, $2), x.queue_name, x.dedupe_key, x.attempts, x.max_attempts, NULL
  FROM fairgate.quarantined x WHERE x.job_id = $1
