-- Version 8. Fuzzy digests have indexes of their own, and those who ask and add at once the same locks whether from SQL or not.
DROP INDEX IF EXISTS lookalike.documents_by_ssdeep;
DROP INDEX IF EXISTS lookalike.documents_by_tlsh;

-- Of an ssdeep, hashes of letters that two digests have in common if they score at all (stores/postgres/digests.py).
ALTER TABLE lookalike.documents ADD COLUMN IF NOT EXISTS pieces integer[];

-- The TLSHs of many documents, ready to be compared. What is left of documents that were removed leads nowhere, and compacting drops it.
CREATE TABLE lookalike.tlsh_blocks (
  collection integer NOT NULL,
  first bigint NOT NULL,                 -- its first ordinal
  entries integer NOT NULL,              -- documents
  data bytea NOT NULL,
  PRIMARY KEY (collection, first)
);
ALTER TABLE lookalike.tlsh_blocks ALTER COLUMN data SET STORAGE EXTERNAL;   -- it cannot be compressed

-- Whoever may read documents may read this too.
DO $$
DECLARE
  grantee text;
BEGIN
  FOR grantee IN
    SELECT CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(r.rolname) END
    FROM pg_class c, aclexplode(c.relacl) AS a LEFT JOIN pg_roles r ON r.oid = a.grantee
    WHERE c.oid = 'lookalike.documents'::regclass AND a.privilege_type = 'SELECT'
  LOOP
    EXECUTE format('GRANT SELECT ON lookalike.tlsh_blocks TO %s', grantee);
  END LOOP;
END $$;
