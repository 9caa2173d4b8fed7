BEGIN;
SET LOCAL synchronous_commit = off;
SET LOCAL lock_timeout = '2s';
SET LOCAL idle_in_transaction_session_timeout = '10s';
SET LOCAL statement_timeout = '60s';
