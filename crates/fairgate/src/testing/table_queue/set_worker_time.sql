-- The worker time of a job that runs ($2, an interval) as the test wants it.
UPDATE fairgate.in_flight SET started_at = clock_timestamp() - $2::interval WHERE admission_id = (SELECT j.admission_id FROM {schema}.jobs j WHERE j.id = $1)
