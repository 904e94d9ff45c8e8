-- Version 10. Fields of meta that a collection has indexed: one row for each value of a document, as a number or as the beginning of a text.
-- What is left of documents that are gone leads nowhere, and compacting drops it.
CREATE TABLE lookalike.fields (
  collection integer NOT NULL,
  name text COLLATE "C" NOT NULL,
  number double precision,
  beginning bytea,
  ordinal bigint NOT NULL,
  CHECK (num_nonnulls(number, beginning) = 1)
);
CREATE INDEX fields_by_number ON lookalike.fields (collection, name, number, ordinal) WHERE number IS NOT NULL;
CREATE INDEX fields_by_beginning ON lookalike.fields (collection, name, beginning, ordinal) WHERE beginning IS NOT NULL;

-- Whoever may read documents may read this too.
{grant SELECT ON lookalike.fields TO whoever may SELECT lookalike.documents}
