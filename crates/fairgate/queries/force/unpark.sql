-- Partitions ($1, locked by this transaction) that wait for a scope are looked at by the next tick instead; they keep their place in line.
UPDATE fairgate.partition_state SET waiting_on = NULL WHERE id = ANY ($1) AND waiting_on IS NOT NULL
