-- What some documents have beside them. No foreign keys, as for pages: an ordinal is never used again, so what is left of a document that
-- somebody deleted leads nowhere, and compacting drops it.

-- Documents that were linked to the one that leads their cluster, which may be gone.
CREATE TABLE lookalike.members (
  collection integer NOT NULL,
  ordinal bigint NOT NULL,
  leader bigint NOT NULL,
  similarity double precision NOT NULL,
  PRIMARY KEY (collection, ordinal)
);
CREATE INDEX members_by_leader ON lookalike.members (collection, leader, ordinal);

-- Documents that expire, in milliseconds since 1970.
CREATE TABLE lookalike.expiring (
  collection integer NOT NULL,
  ordinal bigint NOT NULL,
  expires bigint NOT NULL,
  PRIMARY KEY (collection, ordinal)
);
CREATE INDEX expiring_by_time ON lookalike.expiring (collection, expires, ordinal);
