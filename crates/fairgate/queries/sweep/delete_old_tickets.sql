-- Tickets of jobs that are long over and whose row left the queue unseen, or stays there dead: after a week a job can no longer be revived
-- through the gates. $1 now.
DELETE FROM fairgate.ticket k
 WHERE (k.place, k.queue_job_id) IN (
       SELECT t.place, t.queue_job_id FROM fairgate.ticket t
        WHERE t.made_at < coalesce($1, clock_timestamp()) - interval '7 days'
          AND NOT EXISTS (SELECT FROM fairgate.in_flight f WHERE f.admission_id = t.admission_id)
        ORDER BY t.made_at LIMIT 1000)
