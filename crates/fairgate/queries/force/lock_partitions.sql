-- Waits for the ticks that hold them; in id order, so that two forced admissions cannot wait for each other in a ring.
SELECT s.id FROM fairgate.partition_state s WHERE s.id = ANY ($1) ORDER BY s.id FOR NO KEY UPDATE
