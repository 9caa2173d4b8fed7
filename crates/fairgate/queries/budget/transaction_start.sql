-- In an open transaction every call of this gives one instant.
SELECT now()
