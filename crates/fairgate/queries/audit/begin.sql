INSERT INTO fairgate.audit (who, action, policy, partition_key, job_id, detail) VALUES ($1, $2, $3, $4, $5, $6) RETURNING id
