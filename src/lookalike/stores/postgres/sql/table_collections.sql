-- Version 7. Collections on tables of the user's own: nothing of them is copied, these are where to look.
CREATE TABLE lookalike.tables (
  collection integer PRIMARY KEY,
  relation regclass NOT NULL,
  kind text NOT NULL,                    -- simhash, minhash or text
  value_column name NOT NULL,
  key_column name NOT NULL,
  threshold double precision NOT NULL    -- from which similarity on the bands of minhash and text find everything
);
-- Whoever may read collections may read this too.
{grant SELECT ON lookalike.tables TO whoever may SELECT lookalike.collections}

-- They return the fingerprints now; they are written anew behind this.
DROP FUNCTION IF EXISTS lookalike.simhash_hot_block0(integer, bigint, integer, bigint, integer);
DROP FUNCTION IF EXISTS lookalike.simhash_hot_block1(integer, bigint, integer, bigint, integer);
DROP FUNCTION IF EXISTS lookalike.simhash_hot_block2(integer, bigint, integer, bigint, integer);
