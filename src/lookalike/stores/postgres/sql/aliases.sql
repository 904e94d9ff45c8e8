-- Version 9. Further names of collections: every database has the table, so that the functions of SQL may look there.
CREATE TABLE IF NOT EXISTS lookalike.aliases (name text COLLATE "C" PRIMARY KEY, collection integer NOT NULL);
-- Whoever may read collections may read this too.
DO $$
DECLARE
  grantee text;
BEGIN
  FOR grantee IN
    SELECT DISTINCT CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(r.rolname) END
    FROM pg_class c, aclexplode(c.relacl) AS a LEFT JOIN pg_roles r ON r.oid = a.grantee
    WHERE c.oid = 'lookalike.collections'::regclass AND a.privilege_type = 'SELECT'
  LOOP
    EXECUTE format('GRANT SELECT ON lookalike.aliases TO %s', grantee);
  END LOOP;
END $$;
