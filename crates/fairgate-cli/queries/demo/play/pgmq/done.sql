SELECT pgmq.archive('fairgate_demo_deliver', $1::bigint)
