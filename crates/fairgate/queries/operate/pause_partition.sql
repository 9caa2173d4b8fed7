-- Waits for the tick that holds the row. From then on it is due for none, and no sweep removes it.
UPDATE fairgate.partition_state SET paused = true, due_at = NULL, removing = NULL WHERE id = $1 AND NOT paused
