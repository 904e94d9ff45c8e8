-- Version 9. Further names of collections: every database has the table, so that the functions of SQL may look there.
CREATE TABLE IF NOT EXISTS lookalike.aliases (name text COLLATE "C" PRIMARY KEY, collection integer NOT NULL);
-- Whoever may read collections may read this too.
{grant SELECT ON lookalike.aliases TO whoever may SELECT lookalike.collections}
