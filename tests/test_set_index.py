"""Sets by containment and nearness: exactly what comparing with every set finds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.errors import InputError

SETS = st.lists(st.sets(st.integers(0, 14) | st.sampled_from("abcdef"), max_size=10), max_size=12)


@settings(max_examples=300, deadline=None)
@given(
    SETS,
    st.sets(st.integers(0, 16) | st.sampled_from("abcdefgh"), max_size=12),
    st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.8, 0.9, 1.0]),
    st.sampled_from([1, 3, None]),
)
def test_equals_comparing_with_all(sets: list[set[object]], query: set[object], threshold: float, limit: int | None) -> None:
    index = la.index.SetIndex(dict(enumerate(sets)))
    assert len(index) == len(sets)

    def expected(score: object) -> list[tuple[int, float]]:
        scored = [(number, score(each & query, each)) for number, each in enumerate(sets) if each & query]  # type: ignore[operator]
        passed = sorted((-value, number) for number, value in scored if value >= threshold)
        return [(number, -value) for value, number in passed][:limit]

    for found, wanted in (
        (index.contains(query, threshold=threshold, limit=limit), expected(lambda both, _: len(both) / len(query))),
        (index.contained(query, threshold=threshold, limit=limit), expected(lambda both, each: len(both) / len(each))),
        (index.nearest(query, threshold=threshold, limit=limit), expected(lambda both, each: len(both) / len(each | query))),
    ):
        assert [(match.id, match.score) for match in found] == wanted
        assert found.total >= len(found)


def test_what_is_no_set() -> None:
    for wrong in ("text", 7, None, [["a"], ["b"]]):
        with pytest.raises(InputError):
            la.index.SetIndex({"a": wrong})  # type: ignore[dict-item]
    with pytest.raises(InputError):
        la.index.SetIndex([{"a"}])  # type: ignore[arg-type]
    index = la.index.SetIndex({"a": {"x", "y"}, 7: ["y", "z", "y"], "nothing": []})
    for wrong in ("text", 7, None):
        with pytest.raises(InputError):
            index.contains(wrong)  # type: ignore[arg-type]
    for threshold in (-1, 2, "a"):
        with pytest.raises(InputError):
            index.nearest({"x"}, threshold=threshold)  # type: ignore[arg-type]
    assert [match.id for match in index.contains({"y"}, threshold=1)] == ["a", 7]
    assert index.contains([]) == index.contained([]) == index.nearest([]) == []
