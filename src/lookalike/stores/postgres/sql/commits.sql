-- Version 11. The last transaction that each connection of the library has committed, by its own count: where a connection is lost while
-- it commits, this tells whether it did. The server's numbers of transactions do not: after a crash it gives those that it had not
-- written to the disk yet to others. The row of a connection changes in place.
CREATE TABLE lookalike.commits (
  connection uuid PRIMARY KEY,
  last bigint NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 40);

-- Whoever may add documents may write here.
DO $$
DECLARE
  grantee text;
BEGIN
  FOR grantee IN
    SELECT DISTINCT CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(r.rolname) END
    FROM pg_class c, aclexplode(c.relacl) AS a LEFT JOIN pg_roles r ON r.oid = a.grantee
    WHERE c.oid = 'lookalike.documents'::regclass AND a.privilege_type = 'INSERT'
  LOOP
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON lookalike.commits TO %s', grantee);
  END LOOP;
END $$;
