-- Documents of all collections. Version 1: never changed; each later version has a file of its own, with the step to it.

CREATE TABLE lookalike.format (version integer NOT NULL);

CREATE TABLE lookalike.collections (
  number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text COLLATE "C" NOT NULL UNIQUE,
  settings text NOT NULL,                -- JSON: recipe, kinds, sizes
  bits smallint NOT NULL,                -- of a SimHash
  documents bigint NOT NULL DEFAULT 0
);

-- A transaction that adds documents takes one number and has the ordinals from number * 2^20 on: writers never wait for
-- each other to number their documents.
CREATE SEQUENCE lookalike.transactions;

-- The blocks of a SimHash are bits of it, not slices that somebody must keep up to date: they follow the column on INSERT, UPDATE and
-- COPY. Three blocks of 21, 21 and 22 bits; each takes its share of the low 32 bits, so that fingerprints of 32 bits, which
-- have no others, fall into blocks of 11, 11 and 10. Of 128 bits the low half is in blocks.
CREATE TABLE lookalike.documents (
  collection integer NOT NULL,
  ordinal bigint NOT NULL DEFAULT nextval('lookalike.transactions') << 20,   -- ascending in order of adding, never used again
  id_text text COLLATE "C",
  id_number bigint,
  digest bigint,                         -- of the contents
  simhash bigint,
  simhash_high bigint,                   -- the other half of 128 bits
  block0 integer GENERATED ALWAYS AS (((simhash & 2047) | ((simhash >> 32 & 1023) << 11))::integer) STORED,
  block1 integer GENERATED ALWAYS AS (((simhash >> 11 & 2047) | ((simhash >> 42 & 1023) << 11))::integer) STORED,
  block2 integer GENERATED ALWAYS AS (((simhash >> 22 & 1023) | ((simhash >> 52 & 4095) << 10))::integer) STORED,
  ssdeep text COLLATE "C",
  tlsh text COLLATE "C",
  minhash bytea,
  winnowing bytea,                       -- hashes and places, where no text is kept
  hashes bigint[],                       -- the distinct winnowing hashes, each mixed with the collection
  meta text,                             -- JSON
  text text,
  raw bytea,                             -- instead of text, where it has characters that PostgreSQL does not allow
  PRIMARY KEY (collection, ordinal),
  CHECK (num_nonnulls(id_text, id_number) = 1)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

-- One entry for all documents of equal contents: a million copies of a page are one.
CREATE TABLE lookalike.sketches (
  collection integer NOT NULL,
  digest bigint NOT NULL,
  bands bigint[] NOT NULL,               -- a key each, with the number of the band, mixed with the collection
  PRIMARY KEY (collection, digest)
);

-- What to flip: all numbers of so many bits of which at most so many are set.
CREATE TABLE lookalike.masks (
  width smallint NOT NULL,
  radius smallint NOT NULL,
  masks integer[] NOT NULL,
  PRIMARY KEY (width, radius)
);
INSERT INTO lookalike.masks
WITH RECURSIVE flips (mask, top, size) AS (
  SELECT 0, -1, 0
  UNION ALL
  SELECT mask | (1 << bit), bit, size + 1 FROM flips, generate_series(top + 1, 21) AS bit WHERE size < 5
)
SELECT width, radius, array_agg(mask ORDER BY mask)
FROM unnest('{10,11,21,22}'::integer[]) AS width, generate_series(0, 5) AS radius
JOIN flips ON size <= radius
WHERE mask < 1 << width
GROUP BY width, radius;

-- Inverse document frequencies for lookalike.tfidf.
CREATE TABLE lookalike.idf (
  name text NOT NULL,
  element text NOT NULL,
  idf double precision NOT NULL,
  PRIMARY KEY (name, element)
);
