"""Segments of vectors: built, written, mapped, merged and damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lookalike as la
from lookalike.segments.container import read_segment, write_segment
from lookalike.segments.vectors import VectorSegment, encoded, has_direction, merged, unit_halves
from lookalike.testing import TinyEmbedder

NOTHING = np.zeros(0, np.int64)


def made(count: int, seed: int = 0, dimensions: int = 24) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(10 * count + 1, count, replace=False)).astype(np.int64)
    return rows, unit_halves(rng.standard_normal((count, dimensions)), dimensions)


def test_a_file_gives_what_was_built(tmp_path: Path) -> None:
    rows, halves = made(300)
    built = VectorSegment.build(rows, halves, 24)
    write_segment(tmp_path / "1.vector", "vector", "vector-24/x.1", built.sections())
    before = (tmp_path / "1.vector").read_bytes()
    opened = VectorSegment.open(read_segment(tmp_path / "1.vector", "vector", "vector-24/x.1"))
    assert len(opened) == 300
    assert opened.all_rows().tolist() == rows.tolist()
    for query in range(0, 300, 50):
        asked = halves[query * 24 : (query + 1) * 24]
        left, right = built.search(asked, 0.2, 5, 1, NOTHING), opened.search(asked, 0.2, 5, 2, NOTHING)
        assert left.rows.tolist() == right.rows.tolist()
        assert left.rows[0] == rows[query]
    assert (tmp_path / "1.vector").read_bytes() == before
    with pytest.raises(la.Corrupt):
        read_segment(tmp_path / "1.vector", "vector", "vector-24/y.1")


def test_merging_is_building_of_what_is_left() -> None:
    parts = [VectorSegment.build(*pair, 24) for pair in (made(40, 1), made(0), made(30, 2))]
    parts[2] = VectorSegment.build(parts[2].all_rows() + 1000, parts[2].sections()["halves"], 24)
    removed = np.array([int(parts[0].all_rows()[3]), int(parts[2].all_rows()[0])], dtype=np.int64)
    rows = np.concatenate([part.all_rows() for part in parts])
    halves = np.concatenate([part.sections()["halves"] for part in parts]).reshape(-1, 24)
    left = ~np.isin(rows, removed)
    expected = VectorSegment.build(rows[left], halves[left].reshape(-1), 24).sections()
    found = VectorSegment.merge(parts, removed).sections()
    assert {name: array.tolist() for name, array in found.items()} == {name: array.tolist() for name, array in expected.items()}
    # Searching around removed rows is searching what is left, and several segments are as one.
    query, whole = halves[0], VectorSegment.merge(parts, removed)
    around = merged([part.search(query, 0.0, 7, 1, removed) for part in parts], 1, 7)
    alone = whole.search(query, 0.0, 7, 1, NOTHING)
    assert [each.tolist() for each in around[:4]] == [each.tolist() for each in alone[:4]]


def test_sections_that_are_wrong_are_refused() -> None:
    good = VectorSegment.build(*made(5), 24).sections()
    wrong = [
        {},
        {name: array for name, array in good.items() if name != "rows"},
        good | {"more": good["rows"]},
        good | {"rows": good["rows"][:4]},
        good | {"rows": good["rows"][::-1].copy()},
        good | {"rows": np.zeros(5, np.int64)},
        good | {"halves": good["halves"].astype(np.uint32)},
        good | {"halves": np.full(120, 0x7C00, np.uint16)},
        good | {"halves": good["halves"][:-1]},
        good | {"dimensions": np.array([], np.uint32)},
        good | {"dimensions": np.array([0], np.uint32)},
        good | {"dimensions": np.array([23], np.uint32)},
        good | {"dimensions": np.array([2**32 - 1], np.uint32)},
    ]
    for sections in wrong:
        with pytest.raises(ValueError, match=r"."):
            VectorSegment.open(sections)


def test_texts_without_meaning_have_no_direction() -> None:
    halves, _ = encoded(TinyEmbedder(), ["a river", "", " \n", "77 77", "a river"])
    assert has_direction(halves, 32).tolist() == [True, False, False, False, True]
    assert halves[:32].tolist() == halves[-32:].tolist()
    assert len(encoded(TinyEmbedder(), [])[0]) == 0
    with pytest.raises(la.InputError, match="24 dimensions"):
        unit_halves(np.ones((2, 24)), 32)
