-- Version 12. The bands of sketches have b-trees, one for each of the first bands; they are made behind this. No plan depends on how often a
-- band occurs, and statistics of arrays took as long as to make one of these indexes.
DROP INDEX IF EXISTS lookalike.sketches_by_band;
ALTER TABLE lookalike.sketches ALTER COLUMN bands SET STATISTICS 0;
