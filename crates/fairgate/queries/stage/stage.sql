SELECT job_id, outcome
  FROM fairgate.stage($1, $2, $3::text::json, $4::text::jsonb, $5, $6, $7, $8, $9, $10)
