SELECT pgboss.create_queue('fairgate_demo_deliver', '{}')
