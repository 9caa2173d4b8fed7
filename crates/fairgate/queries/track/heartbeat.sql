SELECT fairgate.heartbeat($1)
