SELECT p.id FROM fairgate.partition_state s JOIN fairgate.partition p USING (id) WHERE s.id = fairgate.partition_id($1, $2)
