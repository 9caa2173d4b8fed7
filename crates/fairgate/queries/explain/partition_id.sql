SELECT fairgate.partition_id($1, $2)
