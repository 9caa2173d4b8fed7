DROP TRIGGER IF EXISTS fairgate_started ON {schema}.jobs;
DROP TRIGGER IF EXISTS fairgate_ended ON {schema}.jobs;
DROP TRIGGER IF EXISTS fairgate_deleted ON {schema}.jobs;
