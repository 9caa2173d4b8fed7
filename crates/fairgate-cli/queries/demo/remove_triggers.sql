-- The record stays, to look at; nothing is written to it any more.
-- Nobody else is to queue behind this for long.
SET lock_timeout = '3s';
DROP TRIGGER IF EXISTS fairgate_demo_admitted ON fairgate.in_flight;
DROP TRIGGER IF EXISTS fairgate_demo_released ON fairgate.in_flight
