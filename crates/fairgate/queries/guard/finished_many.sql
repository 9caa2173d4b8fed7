SELECT admission_id, what FROM fairgate.finished_many($1, $2)
