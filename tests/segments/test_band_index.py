"""Bands and rows set by hand: the published example, every pair against brute force, misuse."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

import lookalike as la

PUBLISHED = json.loads((Path(__file__).parent.parent / "golden" / "published.json").read_text(encoding="utf-8"))["lsh_worked_example"]


def test_the_published_example() -> None:
    signatures = PUBLISHED["signatures"]
    index = la.BandIndex(list(signatures.values()), list(signatures), bands=PUBLISHED["bands"], rows=PUBLISHED["rows"])
    assert [[pair.left, pair.right] for pair in index.pairs()] == PUBLISHED["candidates"]
    assert index.candidates([[3, 1, 9, 9]]) == [[("Doc3", 1)]]


@pytest.mark.parametrize(("bands", "rows"), [(1, 8), (2, 4), (3, 2), (8, 1)])
def test_candidates_are_those_that_share_a_band(bands: int, rows: int) -> None:
    chance = random.Random(bands)
    sketches = [[chance.randrange(3) for _ in range(8)] for _ in range(60)]

    def shared(one: list[int], two: list[int]) -> int:
        return sum(one[rows * band : rows * (band + 1)] == two[rows * band : rows * (band + 1)] for band in range(bands))

    index = la.BandIndex(np.array(sketches), bands=bands, rows=rows)
    assert len(index) == 60
    expected = [(i, j, n) for i in range(60) for j in range(i + 1, 60) if (n := shared(sketches[i], sketches[j]))]
    assert [tuple(pair) for pair in index.pairs()] == expected
    query = sketches[7]
    near = sorted(((i, n) for i in range(60) if (n := shared(query, sketches[i]))), key=lambda each: (-each[1], each[0]))
    assert [tuple(each) for each in index.candidates([query])[0]] == near
    assert index.candidates([query], limit=2) == [index.candidates([query])[0][:2]]
    assert index.recall(1.0) == 1.0


def test_minhashes_of_one_recipe() -> None:
    one, two = la.minhash("a text of some words that is long enough"), la.minhash("a text of some words that is long enough!")
    index = la.BandIndex([one, two], ["a", "b"], bands=32, rows=4)
    assert [tuple(pair) for pair in index.pairs()] == [("a", "b", 32)]
    with pytest.raises(la.RecipeMismatch):
        index.candidates([la.minhash("text", recipe="words")])


def test_misuse_is_explained() -> None:
    with pytest.raises(la.InputError, match="2 bands of 3 rows need sketches of 6 values"):
        la.BandIndex([[1, 2, 3, 4]], bands=2, rows=3)
    with pytest.raises(la.InputError, match="2 ids for 1 sketches"):
        la.BandIndex([[1]], ["a", "b"], bands=1, rows=1)
    with pytest.raises(la.InputError, match="equally many"):
        la.BandIndex([[1], [1, 2]], bands=1, rows=1)
    with pytest.raises(la.InputError, match="from 0 to"):
        la.BandIndex([[-1]], bands=1, rows=1)
    with pytest.raises(la.InputError, match="is a str"):
        la.BandIndex("text", bands=1, rows=1)  # type: ignore[arg-type]
    with pytest.raises(la.InputError, match="rows=0"):
        la.BandIndex([[1]], bands=1, rows=0)
    assert la.BandIndex([], bands=1, rows=1).pairs() == []
