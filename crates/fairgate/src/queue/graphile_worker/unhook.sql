DROP TRIGGER IF EXISTS fairgate_started ON {schema}._private_jobs;
DROP TRIGGER IF EXISTS fairgate_unlocked ON {schema}._private_jobs;
DROP TRIGGER IF EXISTS fairgate_deleted ON {schema}._private_jobs;
