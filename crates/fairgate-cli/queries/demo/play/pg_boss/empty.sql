DELETE FROM pgboss.job WHERE name = 'fairgate_demo_deliver'
