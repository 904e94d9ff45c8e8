-- Version 11. The last transaction that each connection of the library has committed, by its own count: where a connection is lost while
-- it commits, this tells whether it did. The server's numbers of transactions do not: after a crash it gives those that it had not
-- written to the disk yet to others. The row of a connection changes in place.
CREATE TABLE lookalike.commits (
  connection uuid PRIMARY KEY,
  last bigint NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 40);

-- Whoever may add documents may write here.
{grant SELECT, INSERT, UPDATE, DELETE ON lookalike.commits TO whoever may INSERT lookalike.documents}
