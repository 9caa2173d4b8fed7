-- The lag of a start ($2, milliseconds) as the test wants it.
UPDATE fairgate.in_flight SET lag_ms = $2 WHERE admission_id = (SELECT j.admission_id FROM {schema}.jobs j WHERE j.id = $1)
