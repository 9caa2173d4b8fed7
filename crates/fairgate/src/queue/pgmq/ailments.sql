SELECT format('no triggers of ours on %s, so its slots are freed by the sweep alone, an hour late', home),
       'the next batch for it installs them, or run "fairgate apply"'
  FROM fairgate.pgmq_homes({text}) home
 WHERE to_regprocedure('fairgate.pgmq_changed()') IS NOT NULL
   AND 2 > (SELECT count(*) FROM pg_catalog.pg_trigger t WHERE t.tgrelid = home AND t.tgname LIKE 'fairgate\_%' AND t.tgenabled IN ('O', 'A'))
UNION ALL
SELECT format('role %I may not use %s', current_user, home), format('GRANT SELECT, INSERT, UPDATE, DELETE, TRIGGER ON %s TO %I', home, current_user)
  FROM fairgate.pgmq_homes({text}) home
 WHERE NOT (has_table_privilege(home, 'SELECT') AND has_table_privilege(home, 'INSERT') AND has_table_privilege(home, 'TRIGGER'))
UNION ALL
SELECT format('row security on %s applies to role %I', home, current_user), 'messages that a policy hides look lost: give the tickers'' role BYPASSRLS'
  FROM fairgate.pgmq_homes({text}) home
 WHERE pg_catalog.row_security_active(home)
