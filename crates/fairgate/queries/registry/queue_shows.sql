SELECT q.shows FROM fairgate.queue q WHERE q.name = $1
