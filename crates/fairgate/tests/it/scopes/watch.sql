-- Looks at every admission, in its own transaction, after all rows of the statement are there: what a scope holds, counted anew, beside the limit that the row was admitted under.
CREATE SCHEMA watch;
CREATE TABLE watch.over (scope_id uuid, gate text, in_flight bigint, max bigint);
CREATE FUNCTION watch.admissions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO watch.over
    SELECT c.id, s.gate, c.in_flight, c.max
      FROM (SELECT t.id, max((n.limits ->> x.gate)::bigint) AS max,
                   (SELECT count(*) FROM fairgate.in_flight f WHERE t.id = ANY (f.scopes)) AS in_flight
              FROM new_rows n CROSS JOIN LATERAL unnest(n.scopes) t (id) JOIN fairgate.scope x ON x.id = t.id GROUP BY 1) c
      JOIN fairgate.scope s ON s.id = c.id
     WHERE c.max IS NULL OR c.in_flight > c.max;
    RETURN NULL;
END $$;
CREATE TRIGGER watch AFTER INSERT ON fairgate.in_flight REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION watch.admissions();
