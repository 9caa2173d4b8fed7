DELETE FROM fairgate.quarantined WHERE job_id = ANY ($1) RETURNING job_id
