SELECT hooks_digest FROM fairgate.queue WHERE id = $1
