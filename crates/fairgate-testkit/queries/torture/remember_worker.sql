INSERT INTO torture.worker (worker_id, application_name) VALUES ($1, $2)
