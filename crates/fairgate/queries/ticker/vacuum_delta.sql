VACUUM (SKIP_LOCKED) fairgate.delta
