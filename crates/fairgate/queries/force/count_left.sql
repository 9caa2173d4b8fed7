SELECT count(*) FILTER (WHERE j.ready), count(*) FILTER (WHERE NOT j.ready)
  FROM fairgate.staged j WHERE j.policy_id = $1 AND ($2::uuid IS NULL OR j.partition_id = $2)
