SELECT job_id, outcome
  FROM fairgate.stage_rows($1, $2::text[], $3::text[]::json[], $4::text[]::jsonb[], $5::text[], $6::int[], $7::timestamptz[],
       $8::text[], $9::text[], $10::int[], $11::bigint)
 ORDER BY ordinal
