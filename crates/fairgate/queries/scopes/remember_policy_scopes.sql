-- What staging's reports need of a policy's gates of a coarser scope.
UPDATE fairgate.policy SET scopes = $2::text::jsonb WHERE id = $1 AND scopes IS DISTINCT FROM $2::text::jsonb
