-- $1 run, $2 received at, $3 fingerprints, $4 codes, $5 details, $6 texts. A body that comes again is counted, whether on this page or later.
INSERT INTO pushfeed.quarantined_event AS q (fingerprint, code, detail, raw, occurrence_count, first_received_at, last_received_at, run_id)
SELECT b.fingerprint, min(b.code), min(b.detail), min(b.raw)::json, count(*), $2, $2, $1
  FROM unnest($3::bytea[], $4::text[], $5::text[], $6::text[]) AS b (fingerprint, code, detail, raw)
 GROUP BY b.fingerprint ORDER BY b.fingerprint
ON CONFLICT (fingerprint) DO UPDATE
   SET occurrence_count = q.occurrence_count + excluded.occurrence_count, last_received_at = excluded.last_received_at
