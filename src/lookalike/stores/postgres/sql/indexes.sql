-- What searches go through. Each statement can be run again: a bulk load drops these and makes them when it is done.

CREATE UNIQUE INDEX IF NOT EXISTS documents_by_id_text ON lookalike.documents (collection, id_text) WHERE id_text IS NOT NULL;
CREATE UNIQUE INDEX IF NOT EXISTS documents_by_id_number ON lookalike.documents (collection, id_number) WHERE id_number IS NOT NULL;

-- Every pair of blocks leads one of these three; they hold all that a search reads, so it never visits the table. A search knows block and
-- collection, so their order is the same to it; but an index that begins with what differs is made in two thirds of the time. The last one
-- begins with the collection, so that all of a collection can be read from it.
CREATE INDEX IF NOT EXISTS documents_by_block0 ON lookalike.documents (block0, collection, block1) INCLUDE (simhash, ordinal)
  WHERE simhash IS NOT NULL;
CREATE INDEX IF NOT EXISTS documents_by_block1 ON lookalike.documents (block1, collection, block2) INCLUDE (simhash, ordinal)
  WHERE simhash IS NOT NULL;
CREATE INDEX IF NOT EXISTS documents_by_block2 ON lookalike.documents (collection, block2, block0) INCLUDE (simhash, ordinal)
  WHERE simhash IS NOT NULL;

CREATE INDEX IF NOT EXISTS documents_by_digest ON lookalike.documents (collection, digest, ordinal) WHERE digest IS NOT NULL;

-- Nearly every key of a band is that of one sketch. Then a b-tree for each band takes half the room of a GIN index of all of them, and a
-- quarter of the time to make. Those of the first bands are made here.
CREATE INDEX IF NOT EXISTS sketches_by_band{band} ON lookalike.sketches ((bands[{band}])) WHERE bands[{band}] IS NOT NULL;
ALTER INDEX lookalike.sketches_by_band{band} ALTER COLUMN 1 SET STATISTICS 0;

-- GIN is without a list of pending entries, which every search would have to read through.
CREATE INDEX IF NOT EXISTS sketches_by_more_bands ON lookalike.sketches USING gin ((bands[{beyond}:])) WITH (fastupdate = off)
  WHERE cardinality(bands) > {apart};
CREATE INDEX IF NOT EXISTS documents_by_hash ON lookalike.documents USING gin (hashes) WITH (fastupdate = off) WHERE hashes IS NOT NULL;

CREATE INDEX IF NOT EXISTS documents_by_piece ON lookalike.documents USING gin (pieces) WITH (fastupdate = off) WHERE pieces IS NOT NULL;

CREATE INDEX IF NOT EXISTS structures_by_band ON lookalike.structures USING gin (bands) WITH (fastupdate = off);
CREATE INDEX IF NOT EXISTS pages_by_structure ON lookalike.pages (collection, structure, ordinal);
