-- What a claim must read after it has its locks.

-- Identity, newest context and overrides of partitions whose rows this transaction has locked. VOLATILE: it reads in a snapshot of its own, taken when
-- it is called. The snapshot of the claim itself is older than its locks, and a context that was absorbed, or an override that was made, in between
-- would be missed. Overrides that have ended count until the first look after their end.
CREATE FUNCTION fairgate.locked_partitions(ids uuid[]) RETURNS TABLE (id uuid, key text, context text, overrides text)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT p.id, p.key, p.context::text,
           -- One probe of the few overrides for all ids; only a partition that has some asks for them.
           CASE WHEN p.id = ANY (ARRAY (SELECT o.partition_id FROM fairgate.override o WHERE o.partition_id = ANY (ids))) THEN
           (SELECT json_agg(json_build_array(o.gate, o.parameter, o.value, (extract(epoch FROM o.until) * 1000000)::bigint))::text FROM fairgate.override o
             WHERE o.partition_id = p.id
               AND o.until > (SELECT coalesce(s.checked_at, '-infinity') FROM fairgate.partition_state s WHERE s.id = p.id)) END
      FROM fairgate.partition p WHERE p.id = ANY (ids);
END $$;
REVOKE EXECUTE ON FUNCTION fairgate.locked_partitions(uuid[]) FROM PUBLIC;
