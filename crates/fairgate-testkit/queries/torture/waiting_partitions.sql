-- Where jobs wait: policy, key, shard.
SELECT DISTINCT p.name, s.partition_key FROM fairgate.staged s JOIN fairgate.policy p ON p.id = s.policy_id ORDER BY 1, 2
