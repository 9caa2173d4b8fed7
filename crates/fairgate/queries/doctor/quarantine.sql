SELECT count(*) OVER (), p.name, x.error
  FROM fairgate.quarantined x JOIN fairgate.policy p ON p.id = x.policy_id ORDER BY x.quarantined_at DESC LIMIT 1
