-- The structures of web pages, one entry for all pages that have it: a template has many.
CREATE TABLE lookalike.structures (
  collection integer NOT NULL,
  digest bigint NOT NULL,
  paths bytea NOT NULL,                  -- the hashes of the distinct tag paths
  bands bigint[] NOT NULL,               -- as in lookalike.sketches
  PRIMARY KEY (collection, digest)
);

-- Which documents are pages. No foreign key leads to these, so that their table can be partitioned: whoever deletes a document by SQL leaves
-- a row here that no search shows, and that compacting drops.
CREATE TABLE lookalike.pages (
  collection integer NOT NULL,
  ordinal bigint NOT NULL,
  structure bigint NOT NULL,
  PRIMARY KEY (collection, ordinal),
  FOREIGN KEY (collection, structure) REFERENCES lookalike.structures
);
