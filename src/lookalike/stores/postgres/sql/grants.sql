DO $$
DECLARE
  grantee text;
BEGIN
  FOR grantee IN
    SELECT DISTINCT CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(r.rolname) END
    FROM pg_class c, aclexplode(c.relacl) AS a LEFT JOIN pg_roles r ON r.oid = a.grantee
    WHERE c.oid = '{other}'::regclass AND a.privilege_type = '{may}'
  LOOP
    EXECUTE format('GRANT {rights} ON {table} TO %s', grantee);
  END LOOP;
END $$;
