-- Graphile Worker's own function unlocks what workers hold that have ended: not alive ($1, by name), and none of their connections left.
SELECT graphile_worker.force_unlock_workers(ARRAY (
    SELECT w.worker_id FROM torture.worker w
     WHERE w.application_name <> ALL ($1)
       AND NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.application_name = w.application_name)
       AND EXISTS (SELECT FROM graphile_worker._private_jobs j WHERE j.locked_by = w.worker_id)))
