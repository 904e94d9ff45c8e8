-- The structures of web pages, one entry for all pages that have it: a template has many.
CREATE TABLE lookalike.structures (
  collection integer NOT NULL,
  digest bigint NOT NULL,
  paths bytea NOT NULL,                  -- the hashes of the distinct tag paths
  bands bigint[] NOT NULL,               -- as in lookalike.sketches
  PRIMARY KEY (collection, digest)
);

-- Which documents are pages. Whoever deletes a document, in whatever way, deletes this too.
CREATE TABLE lookalike.pages (
  collection integer NOT NULL,
  ordinal bigint NOT NULL,
  structure bigint NOT NULL,
  PRIMARY KEY (collection, ordinal),
  FOREIGN KEY (collection, ordinal) REFERENCES lookalike.documents ON DELETE CASCADE,
  FOREIGN KEY (collection, structure) REFERENCES lookalike.structures
);
