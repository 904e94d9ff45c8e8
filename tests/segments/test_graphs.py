"""Graphs of vectors: what they lead to, compared exactly; and files that are not what they should be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import reference_vectors
from lookalike.segments.container import read_segment, write_segment
from lookalike.segments.graphs import VectorGraph, search_through
from lookalike.segments.vectors import NearVectors, VectorSegment, unit_halves

DIMENSIONS = 24
NOTHING = np.zeros(0, np.int64)


def clustered(count: int, seed: int, dimensions: int = DIMENSIONS) -> NDArray[np.float32]:
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(99).standard_normal((40, dimensions))
    return (centres[rng.integers(0, 40, count)] + 0.6 * rng.standard_normal((count, dimensions))).astype(np.float32)


@pytest.fixture(scope="module")
def segment() -> VectorSegment:
    rows = np.sort(np.random.default_rng(1).choice(20_000, 2500, replace=False)).astype(np.int64)
    return VectorSegment.build(rows, unit_halves(clustered(2500, 2), DIMENSIONS), DIMENSIONS)


@pytest.fixture(scope="module")
def graph(segment: VectorSegment) -> VectorGraph:
    return VectorGraph.build(segment)


def through(graph: VectorGraph, segment: VectorSegment, queries: NDArray[np.uint16], removed: NDArray[np.int64] = NOTHING) -> NearVectors:
    found = search_through(graph, segment, queries, 10, 1, removed)
    assert found is not None
    return found


def recall(found: NearVectors, exact: NearVectors) -> float:
    """Of the nearest, the share that was found; and every cosine is the exact one, to the bit."""
    shared = 0
    for i in range(len(exact.offsets) - 1):
        here, there = (
            dict(zip(each.rows[_of(each, i)].tolist(), each.cosines[_of(each, i)].tolist(), strict=True)) for each in (found, exact)
        )
        assert all(cosine == there[row] for row, cosine in here.items() if row in there)
        assert list(here.values()) == sorted(here.values(), reverse=True)
        shared += len(here.keys() & there.keys())
    return shared / len(exact.rows)


def _of(found: NearVectors, query: int) -> slice:
    return slice(int(found.offsets[query]), int(found.offsets[query + 1]))


def test_nearly_all_of_the_nearest_are_found_with_exact_cosines(segment: VectorSegment, graph: VectorGraph) -> None:
    queries = unit_halves(clustered(100, 3), DIMENSIONS)
    found = through(graph, segment, queries)
    assert recall(found, segment.search(queries, 0.0, 10, 1, NOTHING)) >= 0.95
    vectors = segment.halves().view(np.float16).reshape(-1, DIMENSIONS).astype(float).tolist()
    asked = queries.view(np.float16).reshape(-1, DIMENSIONS).astype(float).tolist()
    for i in range(0, 100, 20):
        places = np.searchsorted(segment.all_rows(), found.rows[_of(found, i)]).tolist()
        assert found.cosines[_of(found, i)].tolist() == [reference_vectors.cosine(vectors[place], asked[i]) for place in places]


def test_neither_threads_nor_batches_nor_building_again_make_a_difference(segment: VectorSegment, graph: VectorGraph) -> None:
    queries = unit_halves(clustered(30, 4), DIMENSIONS)
    whole, threads = through(graph, segment, queries), search_through(graph, segment, queries, 10, 2, NOTHING)
    assert threads is not None
    assert [each.tolist() for each in whole[:4]] == [each.tolist() for each in threads[:4]]
    for i, query in enumerate(queries.reshape(-1, DIMENSIONS)):
        assert through(graph, segment, query).rows.tolist() == whole.rows[_of(whole, i)].tolist()
    steps: list[int] = []
    again = VectorGraph.build(segment, steps.append)
    assert steps == [2500]
    assert again.sections()["usearch"].tobytes() == graph.sections()["usearch"].tobytes()


def test_what_was_removed_is_not_found(segment: VectorSegment, graph: VectorGraph) -> None:
    queries = unit_halves(clustered(40, 5), DIMENSIONS)
    removed = segment.all_rows()[::9].copy()
    elsewhere = np.sort(np.concatenate([removed, [30_000, 40_000]]))  # rows of other segments
    found = through(graph, segment, queries, elsewhere)
    assert not set(found.rows.tolist()) & set(removed.tolist())
    assert recall(found, segment.search(queries, 0.0, 10, 1, removed)) >= 0.95


def test_a_neighbourhood_that_was_removed_is_searched_exactly(segment: VectorSegment, graph: VectorGraph) -> None:
    query = segment.halves()[:DIMENSIONS]
    removed = np.sort(segment.search(query, -1.0, 240, 1, NOTHING).rows)
    found, exact = through(graph, segment, query, removed), segment.search(query, 0.0, 10, 1, removed)
    assert [each.tolist() for each in found[:3]] == [each.tolist() for each in exact[:3]]


def test_where_a_graph_is_of_no_use(segment: VectorSegment, graph: VectorGraph) -> None:
    query = segment.halves()[:DIMENSIONS]
    assert search_through(graph, segment, query, 500, 1, NOTHING) is None
    assert search_through(graph, segment, query, 10, 1, segment.all_rows()[100:].copy()) is None
    assert search_through(graph, segment, query, 10, 1, segment.all_rows()) is None


def test_a_query_without_direction_finds_nothing(segment: VectorSegment, graph: VectorGraph) -> None:
    queries = np.concatenate([np.zeros(DIMENSIONS, np.uint16), segment.halves()[:DIMENSIONS]])
    found = through(graph, segment, queries)
    assert found.offsets.tolist() == [0, 0, 10]
    assert found.rows[0] == segment.all_rows()[0]
    assert len(through(graph, segment, queries[:DIMENSIONS]).rows) == 0


def test_a_file_gives_what_was_built(segment: VectorSegment, graph: VectorGraph, tmp_path: Path) -> None:
    write_segment(tmp_path / "1.graph", "graph", "x", graph.sections())
    opened = VectorGraph.open(read_segment(tmp_path / "1.graph", "graph", "x"))
    queries = unit_halves(clustered(20, 6), DIMENSIONS)
    assert through(opened, segment, queries).rows.tolist() == through(graph, segment, queries).rows.tolist()


@pytest.mark.parametrize("name", ["no_usearch", "wrong_type", "more", "other_count", "other_dimensions", "two_counts"])
def test_sections_that_are_no_graph_of_these_vectors_are_refused(graph: VectorGraph, name: str) -> None:
    good = graph.sections()
    wrong = {
        "no_usearch": {key: array for key, array in good.items() if key != "usearch"},
        "wrong_type": good | {"vectors": np.array([2500], np.int64)},
        "more": good | {"rows": np.zeros(1, np.int64)},
        "other_count": good | {"vectors": np.array([2499], np.uint64)},
        "other_dimensions": good | {"dimensions": np.array([25], np.uint32)},
        "two_counts": good | {"vectors": np.array([2500, 2500], np.uint64)},
    }
    with pytest.raises(ValueError, match=r"graph"):
        VectorGraph.open(wrong[name])


def test_a_graph_of_another_segment_does_not_fit(segment: VectorSegment, graph: VectorGraph) -> None:
    graph.check_fits(segment)
    with pytest.raises(ValueError, match="not of the segment"):
        graph.check_fits(segment.only(np.arange(2499)))


def test_places_of_rows(segment: VectorSegment) -> None:
    rows = segment.all_rows()
    asked = np.array([-5, int(rows[0]), int(rows[7]), int(rows[-1]), 10**9])
    assert segment.places_of(asked).tolist() == [0, 7, 2499]
    assert segment.places_of(NOTHING).tolist() == []
    assert segment.only(np.array([3, 5])).all_rows().tolist() == rows[[3, 5]].tolist()
