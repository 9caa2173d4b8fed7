-- What staging calls while fairgate is disabled: policy, job ids, partition keys, tasks, payloads, priorities, run times, queue names, max attempts.
CREATE OR REPLACE FUNCTION fairgate.enqueue_{id}(text, uuid[], text[], text[], json[], int[], timestamptz[], text[], int[]) RETURNS void
LANGUAGE plpgsql AS $fairgate$
DECLARE
    nudges bigint;
BEGIN
    WITH taken AS MATERIALIZED (
        SELECT NULL::uuid AS admission_id, 0 AS attempts, NULL::text AS dedupe_key, NULL::text AS last_error, o.*, $1 AS policy, {queue_id} AS queue_id
          FROM (SELECT * FROM unnest($2, $3, $4, $5, $6, $7, $8, $9) WITH ORDINALITY
                       u (job_id, partition_key, task, payload, priority, run_at, queue_name, max_attempts, ordinal)
                 ORDER BY u.ordinal) o),
    {enqueue}
    SELECT count(*) INTO nudges FROM nudged;
END $fairgate$;
REVOKE EXECUTE ON FUNCTION fairgate.enqueue_{id}(text, uuid[], text[], text[], json[], int[], timestamptz[], text[], int[]) FROM PUBLIC;
