-- Every look at a throttled partition with what it took, gate by gate, in order.
SELECT l.partition_id, l.gate, (extract(epoch FROM l.at) * 1000000)::bigint AS at_us, l.fresh, l.rate, l.burst, coalesce(a.taken, 0) AS taken, coalesce(a.forced, false) AS forced
  FROM torture.look l
  LEFT JOIN (SELECT partition_id, xid, count(*) AS taken, bool_or(forced) AS forced FROM torture.admission GROUP BY 1, 2) a
         ON a.partition_id = l.partition_id AND a.xid = l.xid AND NOT l.ended
 ORDER BY l.partition_id, l.gate, l.id
