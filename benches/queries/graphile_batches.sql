DROP TABLE IF EXISTS bench.batch;
CREATE TABLE bench.batch AS
SELECT n / 5000 AS batch,
       array_agg(json_populate_record(NULL::graphile_worker.job_spec, json_build_object('identifier', 'noop', 'payload',
           '{"n": 1, "text": "a payload of ordinary length for a background job"}'::json)) ORDER BY n) AS specs
  FROM generate_series(0, 19999) n GROUP BY 1;
CHECKPOINT;
