SELECT to_regclass('fairgate.migration') IS NOT NULL
