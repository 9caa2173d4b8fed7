-- Beats for one admission of those in flight ($1: which, from 0 to 1), whose row stays locked until the transaction ends.
SELECT fairgate.heartbeat(f.admission_id)
  FROM (SELECT x.admission_id FROM fairgate.in_flight x
        OFFSET (SELECT floor($1 * count(*))::bigint FROM fairgate.in_flight) LIMIT 1) f
