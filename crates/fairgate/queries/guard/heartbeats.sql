SELECT admission_id, what FROM fairgate.heartbeats($1)
