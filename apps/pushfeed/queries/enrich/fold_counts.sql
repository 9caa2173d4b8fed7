-- The sums stay, in fewer rows. Of two that fold at once, the second finds the rows of the first gone.
WITH gone AS (
    DELETE FROM pushfeed.entity_count WHERE (SELECT count(*) FROM pushfeed.entity_count) > 100 RETURNING kind, state, more)
INSERT INTO pushfeed.entity_count SELECT kind, state, sum(more) FROM gone GROUP BY kind, state HAVING sum(more) <> 0
