-- The parameters in force, read from the registered definition, the stored context and the overrides, without any of the engine's own code.

-- A gate's number: fixed, or from the context with a default. NULL: there is none that could be used.
CREATE FUNCTION torture.number_in_force(param jsonb, context jsonb) RETURNS numeric
LANGUAGE sql VOLATILE AS $$
    SELECT CASE WHEN n.number >= 0 THEN n.number END
      FROM (SELECT context #> string_to_array(param ->> 'from', '.') AS value) v
     CROSS JOIN LATERAL (
           SELECT CASE WHEN jsonb_typeof(param) = 'number' THEN param::numeric
                       WHEN v.value IS NULL OR jsonb_typeof(v.value) = 'null' THEN (param ->> 'default')::numeric
                       WHEN jsonb_typeof(v.value) = 'number' THEN v.value::numeric END AS number) n
$$;

-- The gates of a partition alone that are enforced at an instant. VOLATILE, so that each call reads what is committed at that moment and what this transaction did.
CREATE FUNCTION torture.gates_in_force(partition uuid, at timestamptz)
RETURNS TABLE (gate text, kind text, max numeric, rate float8, burst float8)
LANGUAGE sql VOLATILE AS $$
    SELECT g ->> 'name', g ->> 'type',
           floor(coalesce(o.max, torture.number_in_force(g -> 'max', p.context))),
           (n.rate / extract(epoch FROM (g ->> 'per')::interval))::float8,
           greatest(1, coalesce(o.burst, CASE WHEN g ? 'burst' THEN torture.number_in_force(g -> 'burst', p.context) ELSE n.rate END))::float8
      FROM fairgate.partition p JOIN fairgate.policy d ON d.id = p.policy_id
     CROSS JOIN LATERAL jsonb_array_elements(coalesce(d.definition -> 'gates', '[]')) g
     CROSS JOIN LATERAL (
           SELECT (max(v.value) FILTER (WHERE v.parameter = 'max'))::numeric AS max, (max(v.value) FILTER (WHERE v.parameter = 'rate'))::numeric AS rate,
                  (max(v.value) FILTER (WHERE v.parameter = 'burst'))::numeric AS burst
             FROM fairgate.override v WHERE v.partition_id = p.id AND v.gate = g ->> 'name' AND v.until > at) o
     CROSS JOIN LATERAL (SELECT coalesce(o.rate, torture.number_in_force(g -> 'rate', p.context)) AS rate) n
     WHERE p.id = partition AND NOT coalesce((g ->> 'shadow')::boolean, false) AND coalesce(g ->> 'scope', 'partition') = 'partition'
$$;

-- The cap of a scope: from the newest context of its partitions.
CREATE FUNCTION torture.scope_max_in_force(scope uuid) RETURNS numeric
LANGUAGE sql VOLATILE AS $$
    SELECT floor(torture.number_in_force(g -> 'max', s.context))
      FROM fairgate.scope s JOIN fairgate.policy d ON d.id = s.policy_id
     CROSS JOIN LATERAL jsonb_array_elements(coalesce(d.definition -> 'gates', '[]')) g
     WHERE s.id = scope AND g ->> 'name' = s.gate
$$;
