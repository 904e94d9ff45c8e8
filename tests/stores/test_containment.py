"""What containment promises: an edited copy of a text within another one is found, whatever was edited."""

from __future__ import annotations

from hypothesis import assume, given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.stores.kinds import passage_way
from lookalike.stores.kinds.passage_bounds import Bounded
from lookalike.testing import corpus
from lookalike.text.shingle import shingle_set

EDITS = st.lists(st.tuples(st.sampled_from(["replace", "delete", "insert"]), st.integers(0, 400)), max_size=8)


def edited(words: list[str], edits: list[tuple[str, int]]) -> list[str]:
    words = list(words)
    for number, (edit, place) in enumerate(edits):
        at = place % max(1, len(words))
        words[at : at + (edit != "insert")] = [] if edit == "delete" else [f"new{number}"]
    return words


@settings(max_examples=200, deadline=None)
@given(st.integers(11, 80), EDITS, st.integers(0, 30), st.integers(0, 30), st.sampled_from([0.6, 0.8, 0.9]))
def test_an_edited_copy_is_found(length: int, edits: list[tuple[str, int]], before: int, behind: int, threshold: float) -> None:
    """From 4 / (2t - 1) shingles on: see docs/search.md."""
    query = [f"w{place}" for place in range(length)]
    copy = edited(query, edits)
    own, other = shingle_set(" ".join(query)), shingle_set(" ".join(copy))
    assume(len(own) >= 4 / (2 * threshold - 1))
    assume(len(own & other) / len(own) >= threshold)
    document = [*(f"a{place}" for place in range(before)), *copy, *(f"b{place}" for place in range(behind))]
    with la.open("memory://", kinds="winnowing") as index:
        index.add([("other", corpus(1)[0][1]), ("it", " ".join(document))])
        assert [match.id for match in index.search(" ".join(query), by="contains", threshold=threshold)] == ["it"]
        index.add("it", " ".join(query))
        assert [match.id for match in index.search(" ".join(document), by="contained", threshold=threshold)] == ["it"]


WORDS = [f"w{number}" for number in range(12)]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=40), min_size=1, max_size=25),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=60),
    st.sampled_from([None, 0.2, 0.5, 0.9]),
    st.sampled_from([1, 3, 10]),
)
def test_passages_that_are_not_compared_are_not_among_the_best(
    texts: list[list[str]], query: list[str], threshold: float | None, limit: int
) -> None:
    """The same answer as with every document compared."""

    def all_of(documents: list[Bounded], compare: object, *_: object) -> int:
        for each in documents:
            compare(each.place)  # type: ignore[operator]
        return 0

    with la.open("memory://", kinds="winnowing") as index:
        index.add(
            [(number, " ".join(words)) for number, words in enumerate(texts)] + [(f"copy {n}", " ".join(query[:20])) for n in range(6)]
        )
        found = index.search(" ".join(query), by="passages", threshold=threshold, limit=limit)
        kept = passage_way.compared
        try:
            passage_way.compared = all_of  # type: ignore[assignment]
            everything = index.search(" ".join(query), by="passages", threshold=threshold, limit=limit)
        finally:
            passage_way.compared = kept
    assert found == everything
    assert found.total == everything.total


def test_passages_of_boilerplate_are_reckoned_with() -> None:
    """What many documents have is skipped when searching, and counts when comparing."""
    menu = " ".join(f"menu{place}" for place in range(30))
    with la.open("memory://", kinds="winnowing") as index:
        index.add([(number, f"{menu} " + " ".join(f"own{number}x{place}" for place in range(12))) for number in range(80)])
        query = f"{menu} " + " ".join(f"own{number}x{place}" for number in (3, 4) for place in range(12))
        found = index.search(query, by="passages")
        assert [match.id for match in found][:2] == [3, 4]
        assert found[0].score > 0.7


def test_few_of_many_are_compared(monkeypatch: object) -> None:
    """Two hundred documents that overlap with the query, of which ten are wanted."""
    words = [f"w{place}" for place in range(2000)]
    compared: list[str] = []
    inner = passage_way._compared

    def counted(*arguments: object) -> object:
        compared.append("one")
        return inner(*arguments)  # type: ignore[arg-type]

    with la.open("memory://", kinds="winnowing") as index:
        index.add([(at, " ".join(words[at : at + 100])) for at in range(0, 1900, 5)])
        monkeypatch.setattr(passage_way, "_compared", counted)  # type: ignore[attr-defined]
        found = index.search(" ".join(words[900:1000]), by="passages", limit=10)
        assert [match.id for match in found][:3] == [900, 895, 905]
        assert found.total == 37  # two more share five tokens, which is less than is promised
        assert len(compared) < 20
