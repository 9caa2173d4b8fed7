-- With the function go the triggers on every queue's table; a table that comes later gets none.
DROP FUNCTION IF EXISTS fairgate.pgmq_changed() CASCADE;
