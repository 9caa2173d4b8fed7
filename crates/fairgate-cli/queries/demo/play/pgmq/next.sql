-- The next message: its id, the event, our job and its policy.
SELECT m.msg_id::text, m.message::text, m.headers #>> '{fairgate,j}', m.headers #>> '{fairgate,policy}' FROM pgmq.read('fairgate_demo_deliver', 60, 1) m
