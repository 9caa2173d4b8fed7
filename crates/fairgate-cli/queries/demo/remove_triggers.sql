-- The record stays, to look at; nothing is written to it any more.
DROP TRIGGER IF EXISTS fairgate_demo_admitted ON fairgate.in_flight;
DROP TRIGGER IF EXISTS fairgate_demo_released ON fairgate.in_flight
