-- What a claim must read after it has its locks.

-- Identity and newest context of partitions whose rows this transaction has locked. VOLATILE: it reads in a snapshot of its own, taken when
-- it is called. The snapshot of the claim itself is older than its locks, and a context that was absorbed in between would be missed.
CREATE FUNCTION fairgate.locked_partitions(ids uuid[]) RETURNS TABLE (id uuid, key text, context text)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT p.id, p.key, p.context::text FROM fairgate.partition p WHERE p.id = ANY (ids);
END $$;
REVOKE EXECUTE ON FUNCTION fairgate.locked_partitions(uuid[]) FROM PUBLIC;
