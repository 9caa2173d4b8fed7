BEGIN;
SET LOCAL lock_timeout = '20ms';
SET LOCAL synchronous_commit = off;
SET LOCAL idle_in_transaction_session_timeout = '10s';
