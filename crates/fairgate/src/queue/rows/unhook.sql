DROP TRIGGER IF EXISTS {prefix}fairgate_changed ON {table};
DROP TRIGGER IF EXISTS {prefix}fairgate_deleted ON {table};
