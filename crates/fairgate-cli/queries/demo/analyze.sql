-- The record grew in seconds; without statistics the audit would be planned for empty tables.
ANALYZE fairgate_demo.staged, fairgate_demo.admitted, fairgate_demo.released, fairgate_demo.received
