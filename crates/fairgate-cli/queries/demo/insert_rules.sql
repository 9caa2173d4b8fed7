-- $1 places, $2 policies, $3 tenants, $4 caps, $5 rates a second, $6 bursts.
INSERT INTO fairgate_demo.rule (partition_id, place, policy, tenant, cap, rate_per_second, burst)
SELECT fairgate.partition_id(p.id, u.tenant), u.place, u.policy, u.tenant, u.cap, u.rate_per_second, u.burst
  FROM unnest($1::int[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[]) u (place, policy, tenant, cap, rate_per_second, burst)
  JOIN fairgate.policy p ON p.name = u.policy
