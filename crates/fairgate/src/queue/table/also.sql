queued_{number} AS (
    INSERT INTO {other} ({columns}) SELECT {values} FROM job{only}),
