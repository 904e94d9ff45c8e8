"""What all measures share: names, the registry, one grammar."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike.measures as package
from lookalike.errors import InputError, UnknownName
from lookalike.measures import Measure, measures

NAMES = [
    "chebyshev",
    "containment",
    "cosine",
    "dice",
    "difflib",
    "euclidean",
    "hamming",
    "indel",
    "jaccard",
    "levenshtein",
    "manhattan",
    "overlap",
    "ratio",
    "smlar_cosine",
    "smlar_overlap",
    "tfidf_cosine",
]
A, B, FAR = ["a", "b", "c", "d"], ["a", "b", "x", "y"], ["z"] * 4


def array_of_objects(items: list[Any]) -> np.ndarray[Any, Any]:
    array = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        array[i] = item
    return array


def number_or_error(compute: Callable[..., Any], *things: Any) -> Any:
    """What it computes, or 0 for a clear error."""
    try:
        return compute(*things)
    except InputError:
        return 0.0


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=3)
    | st.binary(max_size=3)
    | st.complex_numbers()
    | st.just(Decimal("NaN"))
)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.frozensets(scalars, max_size=4)
        | st.dictionaries(scalars, inner, max_size=4)
        | st.lists(inner, max_size=4).map(array_of_objects)
        | st.lists(st.integers(0, 2**63), max_size=4).map(lambda items: np.array(items, dtype=np.uint64))
    ),
    max_leaves=8,
)


def test_the_registry_holds_every_measure() -> None:
    assert [name for name in measures.names() if name in NAMES] == NAMES
    for name in NAMES:
        assert measures.get(name) is getattr(package, name)
        assert measures.get(name).name == name


def test_the_exports_exist() -> None:
    assert set(NAMES) <= set(package.__all__)
    assert all(hasattr(package, name) for name in package.__all__)


def test_an_unknown_name() -> None:
    with pytest.raises(UnknownName, match="unknown measure 'cosin'; did you mean 'cosine'"):
        measures.get("cosin")


@pytest.mark.parametrize("name", NAMES)
class TestGrammar:
    def test_the_same_verbs_on_the_same_things(self, name: str) -> None:
        measure = measures.get(name)
        assert measure.distances([A, B], [B, B]).tolist() == [measure.distance(A, B), measure.distance(B, B)]
        assert measure.similarities([A, B], [B, B]).tolist() == [measure.similarity(A, B), measure.similarity(B, B)]
        assert measure.pairwise([A], [A, B]).tolist() == [[measure.distance(A, A), measure.distance(A, B)]]
        assert measure.pairwise_similarity([A, B])[1, 0] == measure.similarity(B, A)
        assert measure.pairwise([A, B]).shape == (2, 2)

    def test_nearer_is_more_alike(self, name: str) -> None:
        measure = measures.get(name)
        assert measure.distance(A, A) == 0
        assert measure.distance(A, A) < measure.distance(A, B) < measure.distance(A, FAR)
        assert measure.similarity(A, A) > measure.similarity(A, B) > measure.similarity(A, FAR)

    def test_different_numbers_of_rows(self, name: str) -> None:
        with pytest.raises(InputError, match="a has 2 rows and b has 1"):
            measures.get(name).distances([A, B], [B])

    def test_tables_are_not_taken_for_their_columns(self, name: str) -> None:
        class Table(list[str]):
            columns = ("id", "text")

        with pytest.raises(InputError, match="not a batch"):
            measures.get(name).pairwise(Table(["id", "text"]))

    def test_frozen_and_described(self, name: str) -> None:
        measure = measures.get(name)
        assert len(measure.about) > 15
        with pytest.raises(dataclasses.FrozenInstanceError):
            measure.name = "other"  # type: ignore[misc]

    def test_things_without_a_representation(self, name: str) -> None:
        class Silent:
            def __repr__(self) -> str:
                raise RuntimeError

        with pytest.raises(InputError, match=r"a=a Silent|a=<Silent instance"):
            measures.get(name).distance(Silent(), A)


@pytest.mark.parametrize("name", NAMES)
@given(a=anything, b=anything)
@settings(max_examples=60)
def test_anything_gives_a_number_or_a_clear_error(name: str, a: Any, b: Any) -> None:
    pytest.importorskip("lookalike.text.tokenize")
    measure = measures.get(name)
    for compare in (measure.distance, measure.similarity):
        assert math.isfinite(number_or_error(compare, a, b))
        assert math.isfinite(number_or_error(compare, a, a))
    for batch in (measure.pairwise, measure.pairwise_similarity):
        assert np.isfinite(number_or_error(batch, [a, b])).all()
        assert np.isfinite(number_or_error(batch, a)).all()


def test_a_measure_of_one_s_own() -> None:
    length: Measure = Measure(
        name="length",
        about="the difference of the lengths",
        read=lambda thing, name: len(thing),
        distance_of=lambda a, b: abs(a - b),
        similarity_of=lambda a, b: min(a, b) / max(a, b),
    )
    assert length.distance("ab", "abcd") == 2
    assert length.pairwise_similarity(["ab", "abcd"]).tolist() == [[1, 0.5], [0.5, 1]]
    assert length.distances(["a"], ["abc"]).dtype == np.float64
