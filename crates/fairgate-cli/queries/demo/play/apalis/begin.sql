INSERT INTO apalis.workers (id, worker_type, storage_name, last_seen) VALUES ('fairgate demo', 'fairgate_demo_deliver', 'postgres', now())
ON CONFLICT (id) DO UPDATE SET last_seen = now()
