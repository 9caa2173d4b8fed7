SELECT to_regclass('pushfeed.migration') IS NOT NULL
