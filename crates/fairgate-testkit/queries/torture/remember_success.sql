INSERT INTO torture.success (job_id, attempt) VALUES ($1, $2)
