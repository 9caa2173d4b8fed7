SELECT l.share FROM fairgate.shard l WHERE l.id = $1 FOR NO KEY UPDATE
