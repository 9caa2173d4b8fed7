SELECT version FROM fairgate.migration WHERE success ORDER BY version
