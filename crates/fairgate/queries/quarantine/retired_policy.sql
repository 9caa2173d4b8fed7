-- A policy of these jobs that takes none. FOR SHARE: none of the others is retired before this transaction ends.
SELECT p.name FROM (SELECT l.name, l.retired FROM fairgate.policy l
                     WHERE l.id IN (SELECT x.policy_id FROM fairgate.quarantined x WHERE x.job_id = ANY ($1)) ORDER BY l.id FOR SHARE) p
 WHERE p.retired LIMIT 1
