-- Version 12. The bands of sketches have b-trees, one for each band; they are made behind this.
DROP INDEX IF EXISTS lookalike.sketches_by_band;
