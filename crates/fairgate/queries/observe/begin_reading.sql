BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SET LOCAL jit = off;
SET LOCAL statement_timeout = '10s';
SET LOCAL idle_in_transaction_session_timeout = '30s';
