SELECT id, name, kind, schema_name, settings, ready, not_ready_reason, hooks_digest IS NOT NULL AS hooked FROM fairgate.queue ORDER BY name
