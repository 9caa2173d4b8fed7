SELECT id, name, kind, schema_name, settings FROM fairgate.queue WHERE ready ORDER BY id
