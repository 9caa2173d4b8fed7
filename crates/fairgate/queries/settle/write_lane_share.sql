UPDATE fairgate.shard SET share = $2 WHERE id = $1
