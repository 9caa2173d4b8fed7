SELECT job_id, outcome
  FROM fairgate.stage_rows($1, $2::text[], $3::text[]::json[], $4::text[]::jsonb[], $5::text[], $6::int[], $7::timestamptz[],
       NULL, $8::text[], $9::int[], $10::bigint)
 ORDER BY ordinal
