-- Sets a refused job aside until its next try, unless it has had its tries (no row then). Waits 1, 2, 4 .. 60 s.
WITH later AS (
    UPDATE fairgate.staged SET ready = false, forward_attempts = forward_attempts + 1, forward_error = $2,
           ready_at = coalesce($4, clock_timestamp()) + make_interval(secs => least(60, power(2, forward_attempts)))
     WHERE job_id = $1 AND ready AND forward_attempts + 1 < $3
    RETURNING partition_id),
told AS (
    INSERT INTO fairgate.delta (partition_id, staged, future) SELECT partition_id, -1, 1 FROM later)
SELECT true FROM later
