BEGIN;
SET LOCAL lock_timeout = '15s';
