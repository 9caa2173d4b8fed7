SELECT id, name, kind, schema_name, settings FROM fairgate.queue WHERE NOT ready ORDER BY id
