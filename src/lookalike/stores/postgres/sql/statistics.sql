-- Version 2. The planner takes a collection that came after the last ANALYZE for an empty one, and would then rather read all of it than
-- look an id up. Without statistics of its own it supposes that a collection is a part of the table, however old they are.
ALTER TABLE lookalike.documents ALTER COLUMN collection SET STATISTICS 0;
ALTER TABLE lookalike.sketches ALTER COLUMN collection SET STATISTICS 0;
