-- What waits is looked at at once, or when a gate that waits for its time says so. What is not counted yet is armed when it is absorbed.
UPDATE fairgate.partition_state
   SET paused = false, waiting_on = NULL, touched_at = greatest(touched_at, clock_timestamp()),
       due_at = CASE WHEN pending > 0 THEN greatest(clock_timestamp(), eligible_at) END
 WHERE id = $1 AND paused
