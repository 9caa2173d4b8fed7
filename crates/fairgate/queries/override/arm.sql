-- Waits for the tick that holds the partition; then it is looked at at once, whatever its gates said under other limits.
UPDATE fairgate.partition_state
   SET due_at = CASE WHEN NOT paused THEN clock_timestamp() END, eligible_at = '-infinity', removing = NULL, waiting_on = NULL
 WHERE id = $1
