UPDATE pgboss.job SET state = 'completed', completed_on = now() WHERE name = 'fairgate_demo_deliver' AND id = $1::uuid AND state = 'active'
