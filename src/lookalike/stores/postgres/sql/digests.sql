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
{grant SELECT ON lookalike.tlsh_blocks TO whoever may SELECT lookalike.documents}
