-- $1 milliseconds, for this session.
SELECT set_config('lock_timeout', $1::text, false)
