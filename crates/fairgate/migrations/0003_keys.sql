-- Ids and keys, computed in one place for every door. STABLE, because what they call is: as IMMUTABLE they would not be inlined, and each
-- call would cost ten times as much.

-- date_part gives a float, exact here to far below a millisecond; extract gives a numeric, which costs more than all the rest.
-- A job id sorts by the time of staging, then by its sequence number (the UUIDv7 layout).
CREATE FUNCTION fairgate.job_id(at timestamptz, seq bigint) RETURNS uuid
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT encode(int8send(((date_part('epoch', at) * 1000)::bigint << 16) | 28672)
               || int8send((-9223372036854775807 - 1) + seq), 'hex')::uuid
$$;

-- The id of the admission that a row of staging is waiting for: as a job id, but of version 8, so that the two never meet.
CREATE FUNCTION fairgate.admission_id(at timestamptz, seq bigint) RETURNS uuid
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT encode(int8send(((date_part('epoch', at) * 1000)::bigint << 16) | 32768)
               || int8send((-9223372036854775807 - 1) + seq), 'hex')::uuid
$$;

-- The digest that stands for (policy, key) everywhere: 128 bits of SHA-256.
CREATE FUNCTION fairgate.partition_id(policy_id int, key text) RETURNS uuid
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT encode(substring(sha256(int4send(policy_id) || convert_to(key, 'UTF8')) FOR 16), 'hex')::uuid
$$;

-- The digest that stands for a dedupe key of a policy: not a partition's, though made the same way.
CREATE FUNCTION fairgate.dedupe_id(policy_id int, key text) RETURNS uuid
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT encode(substring(sha256(int4send(policy_id) || '\x00'::bytea || convert_to(key, 'UTF8')) FOR 16), 'hex')::uuid
$$;

-- The job's copy of its context: priority and queue_name are added for templates, unless the user set them.
CREATE FUNCTION fairgate.job_context(priority int, queue_name text, context jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN queue_name IS NULL THEN jsonb_build_object('priority', priority)
                ELSE jsonb_build_object('priority', priority, 'queue_name', queue_name) END || context
$$;

-- A template ([["l", text] | ["p", path...], ...]) filled from a context. A hole takes a string, a boolean or a 64-bit integer.
CREATE FUNCTION fairgate.render(parts jsonb, context jsonb, what text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    part jsonb;
    value jsonb;
    piece text;
    path text;
    result text := '';
BEGIN
    FOR n IN 0 .. jsonb_array_length(parts) - 1 LOOP
        part := parts -> n;
        IF part ->> 0 = 'l' THEN
            result := result || (part ->> 1);
            CONTINUE;
        END IF;
        value := context;
        FOR i IN 1 .. jsonb_array_length(part) - 1 LOOP
            value := value -> (part ->> i);
        END LOOP;
        piece := value #>> '{}';
        CASE coalesce(jsonb_typeof(value), 'missing')
            WHEN 'string', 'boolean' THEN
                NULL;
            WHEN 'number' THEN
                IF piece !~ '^-?[0-9]{1,19}$' OR piece::numeric NOT BETWEEN -9223372036854775808 AND 9223372036854775807 THEN
                    path := (SELECT string_agg(part ->> i, '.') FROM generate_series(1, jsonb_array_length(part) - 1) i);
                    RAISE EXCEPTION '%: context "%" is the number %, which is not a 64-bit integer', what, path, piece
                        USING ERRCODE = 'FG003', HINT = 'Give a string, a boolean or a whole number without a decimal point.';
                END IF;
            ELSE
                path := (SELECT string_agg(part ->> i, '.') FROM generate_series(1, jsonb_array_length(part) - 1) i);
                RAISE EXCEPTION '%: context "%" is %', what, path,
                        CASE jsonb_typeof(value) WHEN 'null' THEN 'null' WHEN 'array' THEN 'an array' WHEN 'object' THEN 'an object' ELSE 'missing' END
                    USING ERRCODE = 'FG003', HINT = 'Put a string, a boolean or an integer there when staging, or pass the key itself.';
        END CASE;
        result := result || piece;
    END LOOP;
    RETURN result;
END $$;
