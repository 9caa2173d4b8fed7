-- What keeps the role that asks, which should be the tickers', from using a queue's table: (what is wrong, what to do).
SELECT format('role %I may not %s on %s', current_user, p.need, {literal}),
       format('GRANT SELECT, INSERT, DELETE, TRIGGER ON %s TO %I', {literal}, current_user)
  FROM unnest(ARRAY['SELECT', 'INSERT', 'DELETE', 'TRIGGER']) p (need)
 WHERE NOT pg_catalog.has_table_privilege({literal}, p.need)
UNION ALL
SELECT format('row security on %s applies to role %I', {literal}, current_user),
       'rows that a policy hides look lost, and their slots are freed while they run: let the tickers'' role own the table, or give it BYPASSRLS'
 WHERE pg_catalog.row_security_active({literal}::regclass)
UNION ALL
SELECT format('trigger %s on %s does not fire in sessions with session_replication_role = replica, and this one has it', t.tgname, {literal}),
       'reset session_replication_role, or ALTER TABLE .. ENABLE ALWAYS TRIGGER'
  FROM pg_catalog.pg_trigger t
 WHERE t.tgrelid = {literal}::regclass AND t.tgname LIKE '%fairgate\_%' AND t.tgenabled = 'O' AND current_setting('session_replication_role') = 'replica'
