-- Looks at every admission, in its own transaction, after all rows of the statement are there. Each statement of the function has a
-- snapshot of its own: it counts what is committed now and what this transaction did, where the gates counted with a counter.
CREATE FUNCTION torture.watch_admissions() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO torture.admission (job_id, partition_id, attempts, forced)
    SELECT n.job_id, n.partition_id, j.attempts, n.forced FROM new_rows n LEFT JOIN graphile_worker._private_jobs j ON j.id = n.queue_job_id::bigint;

    -- In flight within the limit in force. A limit that cannot be read admits nothing.
    INSERT INTO torture.violation (fault, detail)
    SELECT 'over_limit', format('%s in flight in partition %s, gate %s allows %s', c.in_flight, c.partition_id, g.gate, coalesce(g.max::text, 'none'))
      FROM (SELECT n.partition_id, n.admitted_at, (SELECT count(*) FROM fairgate.in_flight f WHERE f.partition_id = n.partition_id) AS in_flight
              FROM (SELECT DISTINCT partition_id, admitted_at FROM new_rows WHERE NOT forced) n) c
     CROSS JOIN LATERAL torture.gates_in_force(c.partition_id, c.admitted_at) g
     WHERE g.kind = 'concurrency' AND (g.max IS NULL OR c.in_flight > g.max);
    -- The same of every scope whose slot is held; a job holds one of each gate of a coarser scope.
    INSERT INTO torture.violation (fault, detail)
    SELECT 'over_limit', format('%s in flight in scope %s of gate %s, which allows %s', c.in_flight, s.key, s.gate, coalesce(c.max::text, 'none'))
      FROM (SELECT n.id, torture.scope_max_in_force(n.id) AS max, (SELECT count(*) FROM fairgate.in_flight f WHERE n.id = ANY (f.scopes)) AS in_flight
              FROM (SELECT DISTINCT t.id FROM new_rows r CROSS JOIN LATERAL unnest(r.scopes) t (id) WHERE NOT r.forced) n) c
      LEFT JOIN fairgate.scope s ON s.id = c.id
     WHERE c.max IS NULL OR c.in_flight > c.max;
    INSERT INTO torture.violation (fault, detail)
    SELECT 'other_limit', format('partition %s holds the scopes %s under %s', n.partition_id, n.scopes, n.limits)
      FROM (SELECT DISTINCT partition_id, scopes, limits FROM new_rows WHERE NOT forced) n JOIN fairgate.partition p ON p.id = n.partition_id
      JOIN fairgate.policy d ON d.id = p.policy_id
     WHERE (SELECT count(*) FROM jsonb_array_elements(coalesce(d.definition -> 'gates', '[]')) g
             WHERE g ->> 'type' = 'concurrency' AND g ->> 'scope' <> 'partition') <> coalesce(cardinality(n.scopes), 0)
        OR EXISTS (SELECT FROM unnest(n.scopes) t (id) LEFT JOIN fairgate.scope s ON s.id = t.id
                    WHERE (n.limits ->> s.gate)::numeric IS DISTINCT FROM torture.scope_max_in_force(t.id)
                       OR (s.key IS NOT NULL AND s.key IS DISTINCT FROM p.context ->> 'account'));
    INSERT INTO torture.violation (fault, detail)
    SELECT 'over_limit', format('partition %s admitted a job, gate %s has no rate that can be read', n.partition_id, g.gate)
      FROM (SELECT DISTINCT partition_id, admitted_at FROM new_rows WHERE NOT forced) n CROSS JOIN LATERAL torture.gates_in_force(n.partition_id, n.admitted_at) g
     WHERE g.kind = 'throttle' AND (g.rate IS NULL OR g.burst IS NULL);

    -- A cap that tunes itself is what the rows say it was.
    INSERT INTO torture.violation (fault, detail)
    SELECT 'over_limit', format('%s in flight in partition %s, its own cap is %s', c.in_flight, c.partition_id, c.cap)
      FROM (SELECT n.partition_id, (n.limits ->> 'cap')::float8 AS cap,
                   (SELECT count(*) FROM fairgate.in_flight f WHERE f.partition_id = n.partition_id) AS in_flight
              FROM (SELECT DISTINCT partition_id, limits FROM new_rows WHERE NOT forced AND limits ? 'cap') n) c
     WHERE c.in_flight > c.cap;

    -- The limits that the rows were admitted under are those in force.
    INSERT INTO torture.violation (fault, detail)
    SELECT 'other_limit', format('partition %s admitted under %s, gate %s allows %s', n.partition_id, n.limits, g.gate, coalesce(g.max::text, 'none'))
      FROM (SELECT DISTINCT partition_id, admitted_at, limits FROM new_rows WHERE NOT forced) n CROSS JOIN LATERAL torture.gates_in_force(n.partition_id, n.admitted_at) g
     WHERE g.kind = 'concurrency' AND (n.limits ->> g.gate)::numeric IS DISTINCT FROM g.max;

    -- A policy that is paused, disabled or retired admits nothing, and every slot belongs to a partition that is there.
    INSERT INTO torture.violation (fault, detail)
    SELECT 'closed_policy', format('policy %s admitted %s jobs', coalesce(p.name, n.policy_id::text), n.jobs)
      FROM (SELECT policy_id, count(*) AS jobs FROM new_rows WHERE NOT forced GROUP BY 1) n LEFT JOIN fairgate.policy p ON p.id = n.policy_id
     WHERE (p.enabled AND NOT p.paused AND NOT p.retired) IS NOT TRUE;
    INSERT INTO torture.violation (fault, detail)
    SELECT 'no_partition', format('partition %s admitted a job and is not there', n.partition_id)
      FROM (SELECT DISTINCT partition_id FROM new_rows) n
     WHERE NOT EXISTS (SELECT FROM fairgate.partition p JOIN fairgate.partition_state s USING (id) WHERE p.id = n.partition_id);

    -- The instant of the decision lies in the transaction.
    INSERT INTO torture.violation (fault, detail)
    SELECT 'wrong_time', format('admitted at %s in a transaction that began at %s, now %s', n.admitted_at, now(), clock_timestamp())
      FROM (SELECT DISTINCT admitted_at FROM new_rows) n
     WHERE n.admitted_at NOT BETWEEN now() AND clock_timestamp();
    RETURN NULL;
END $$;

CREATE TRIGGER torture_watch_admissions AFTER INSERT ON fairgate.in_flight REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION torture.watch_admissions();
