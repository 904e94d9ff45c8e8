"""What decides whether a document is like one that was kept before, checked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from lookalike.checks import check_int, check_share, refuse
from lookalike.errors import InputError
from lookalike.figures import shown_share
from lookalike.recipe import Recipe
from lookalike.segments.banding import Banding

MAX_SKETCH = 128  # values
RECALL = 0.995  # of pairs exactly at the threshold; pairs above it are found more often
MOST_BELOW = 0.15  # of pairs at half the threshold: they are compared in vain
MAX_DISTANCE = 16
SIMHASH_BITS = 64
BANDED = ("minhash", "estimate", "structure", "record")
MAX_RECORD_SKETCH = 512  # values: those of a record may agree in less than half though the records are alike


@dataclass(frozen=True, slots=True)
class Rule:
    """How documents are compared.

    ``minhash``: Jaccard similarity of the features of texts. ``simhash``: bits that differ. ``exact``: equal tokens. ``meaning``: cosine of
    vectors. ``estimate``: the share of equal values of MinHashes, where there are no texts. ``structure``: Jaccard similarity of tag paths.
    ``record``: the mean of the similarities of fields, by ``weights`` and ``measures``.
    """

    method: str
    recipe: Recipe
    threshold: float = 0.8
    distance: int = 3
    bits: int = SIMHASH_BITS
    most_values: int = MAX_SKETCH  # of a MinHash
    dimensions: int | None = None  # of vectors; None: what the recipe's model gives
    weights: tuple[tuple[str, float], ...] = ()  # of the fields of records
    measures: tuple[tuple[str, str], ...] = ()

    def check(self) -> None:
        """An ``InputError`` unless what is asked for can be found."""
        above_nothing = "choose a similarity above 0 and up to 1"
        if not check_share("threshold", self.threshold, above_nothing):
            raise refuse("threshold", self.threshold, above_nothing)
        check_int("distance", self.distance, 0, MAX_DISTANCE, f"choose a number of bits from 0 to {MAX_DISTANCE}")
        if self.method in BANDED and (found := self.banding.recall(self._agreeing)) < RECALL:
            low = f"sketches of {self._most} values find {shown_share(found)} of the pairs at it"
            raise InputError(f"threshold={self.threshold}: too low: {low}; choose a higher one")

    @property
    def banding(self) -> Banding:
        """How sketches are cut; no bands where none are needed."""
        return cheapest_banding(self._agreeing, self._most) if self.method in BANDED else Banding(0, 0)

    @property
    def _agreeing(self) -> float:
        """The share of values in which two sketches agree at the threshold."""
        return weight_in_common(self.threshold) if self.method == "record" else self.threshold

    @property
    def _most(self) -> int:
        return MAX_RECORD_SKETCH if self.method == "record" else self.most_values

    @property
    def sketch_size(self) -> int:
        """How many values of a MinHash are needed."""
        return self.banding.bands * self.banding.rows


def weight_in_common(threshold: float) -> float:
    """The share of equal values in MinHashes of records that are alike from this similarity on.

    What two records have in common weighs about as much as their fields are alike. Of 10,094 made-up pairs with similarities from 0.4 on
    (tests/made_records.py) it never weighed less than the square of the similarity by more than 0.016. Sketches agree in what is common
    by what either has.
    """
    common = max(threshold * threshold - 0.02, 0.001)
    return common / (2 - common)


@cache
def cheapest_banding(threshold: float, most: int = MAX_SKETCH) -> Banding:
    """The smallest sketch, of at most so many values, that finds the pairs at the threshold and few of those far below it.

    More rows bring up fewer pairs below, and need more bands to find those at the threshold. Where none does both, the one with
    the most rows is taken that finds them.
    """
    found = Banding(most, 1)
    for rows in range(1, most + 1):
        fewest = next((n for n in range(1, most // rows + 1) if Banding(n, rows).recall(threshold) >= RECALL), None)
        if fewest is None:
            break
        found = Banding(fewest, rows)
        if found.recall(threshold / 2) <= MOST_BELOW:
            break
    return found
