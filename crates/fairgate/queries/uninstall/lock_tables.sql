-- Behind the locks on the queues' tables, as a worker's end has them.
LOCK TABLE fairgate.staged, fairgate.in_flight, fairgate.delta IN ACCESS EXCLUSIVE MODE
