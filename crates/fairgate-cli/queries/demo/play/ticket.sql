-- Our job and its policy, for the queue's own id ($2) of a queue of type $1.
SELECT t.job_id::text, t.policy FROM fairgate.ticket t WHERE t.place LIKE $1 || ':%' AND t.queue_job_id = $2
