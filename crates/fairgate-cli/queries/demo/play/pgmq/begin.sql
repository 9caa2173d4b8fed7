SELECT pgmq.create('fairgate_demo_deliver')
