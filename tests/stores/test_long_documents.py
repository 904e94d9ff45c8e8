"""Long documents: what is built, merged or compared at a time is bounded by their length, and not by their number alone."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import lookalike as la
from lookalike.leaders.decider import Decider
from lookalike.scanning import storing
from lookalike.stores import clustering
from lookalike.stores.embedded import sealing
from lookalike.stores.embedded import store as embedded
from lookalike.stores.stretches import Stretch

COUNT, LENGTH, BOUND = 60, 2000, 20_000
WORDS = [f"word{number}" for number in range(3000)]


def texts() -> dict[str, str]:
    chance = random.Random(1)
    return {f"d{number}": " ".join(chance.choices(WORDS, k=LENGTH // 8)) for number in range(COUNT)}


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many characters each segment of passages was built from at once."""
    from lookalike.stores.kinds.winnowing import WINNOWING

    found: list[int] = []
    plain = type(WINNOWING).build

    def build(kind: Any, stretch: Stretch, settings: Any) -> Any:
        found.append(sum(map(len, stretch.columns["text"][1])))
        return plain(kind, stretch, settings)

    monkeypatch.setattr(type(WINNOWING), "build", build)
    return found


@pytest.fixture
def bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealing, "SEAL_BYTES", BOUND)
    monkeypatch.setattr(sealing, "MOST_MERGED_BYTES", 0)


def agrees(index: la.Index, expected: dict[str, str]) -> None:
    """Whatever the segments are, all documents are found, and no others."""
    assert {str(id_) for id_ in index.ids()} == set(expected)
    for id_, text in list(expected.items())[::7]:
        assert [match.id for match in index.search(text[:600], by="passages")] == [id_]
        assert [match.id for match in index.search(text, threshold=0.9)] == [id_]
    assert index.check().problems == []


@pytest.mark.usefixtures("bounded")
def test_long_documents_are_sealed_as_they_come(tmp_path: Path, built: list[int]) -> None:
    documents = texts()
    with la.open(tmp_path / "s") as index:
        for item in documents.items():
            index.add([item])
        assert index.stats()["segments"] > 3
        assert index.stats()["unsealed"] < COUNT / 3
        agrees(index, documents)
    assert max(built) < BOUND + 2 * LENGTH


def test_a_store_may_be_asked_to_seal_earlier(tmp_path: Path, built: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """As a scan asks, which takes as much memory for many files as for some."""
    monkeypatch.setattr(storing, "SEALED", BOUND)
    documents = texts()
    with la.open(tmp_path / "s") as index:
        storing.merge_in_little_memory(index)
        for item in documents.items():
            index.add([item])
        assert index.stats()["unsealed"] < COUNT / 3
        assert len(built) > 3
        assert max(built) < BOUND + 2 * LENGTH
        agrees(index, documents)


def test_what_others_wrote_is_sealed_in_slices(tmp_path: Path, built: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents that are not in memory any more are read again, not all at once; removed ones stay removed."""
    documents = texts()
    with la.open(tmp_path / "s") as index:
        index.add(documents.items())
    gone = list(documents)[3::10]
    built.clear()
    monkeypatch.setattr(sealing, "SEAL_BYTES", BOUND)
    monkeypatch.setattr(sealing, "MOST_MERGED_BYTES", 0)
    monkeypatch.setattr(embedded, "SEAL_AT_CLOSE", 1)
    with la.open(tmp_path / "s") as index:
        index.remove(gone)
    with la.open(tmp_path / "s") as index:
        stats = index.stats()
        assert (stats["unsealed"], stats["removed"]) == (0, 0)
        assert stats["segments"] > 3
        agrees(index, {id_: text for id_, text in documents.items() if id_ not in gone})
    assert max(built) < BOUND + 2 * LENGTH


@pytest.mark.parametrize(("most", "merged"), [(0, False), (1 << 30, True)])
def test_segments_are_merged_as_long_as_they_are_not_too_large(
    tmp_path: Path, most: int, merged: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealing, "SEAL_BYTES", BOUND)
    monkeypatch.setattr(sealing, "MOST_MERGED_BYTES", most)
    documents = texts()
    with la.open(tmp_path / "s") as index:
        for item in documents.items():
            index.add([item])
        assert (index.stats()["segments"] < sealing.RUN) == merged
        agrees(index, documents)


@pytest.mark.parametrize(
    ("sizes", "merged"),
    [
        ([30, 30, 30, 30], [0, 4]),
        ([40, 40, 40, 40], [0, 3]),
        ([95, 30, 30, 30], [0, 0]),  # too few beside the large one
        ([95, 95, 30, 30, 30, 30], [2, 6]),
        ([130, 70, 70, 70, 70], [0, 0]),
        ([20, 70, 70, 70, 70], [0, 2]),
    ],
)
def test_large_segments_do_not_keep_others_from_being_merged(sizes: list[int], merged: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealing.Sealer, "_largest_file", lambda _, each: sizes[each.number])
    sealed = [sealing.Sealed(number, number, number + 1, 1) for number in range(len(sizes))]
    nothing: Any = None
    sealer = sealing.Sealer(Path(), nothing, nothing, nothing, nothing, nothing, most_merged=120)
    assert sealer._fitting(sealed) == sealed[merged[0] : merged[1]]


def test_a_few_long_documents_are_sealed_before_closing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opens the store next would otherwise have to build them again and again."""
    documents = texts()
    monkeypatch.setattr(embedded, "SEAL_BYTES_AT_CLOSE", BOUND)
    with la.open(tmp_path / "s") as index:
        index.add(documents.items())
        assert index.stats()["unsealed"] == COUNT
    with la.open(tmp_path / "s") as index:
        assert index.stats()["unsealed"] == 0
        agrees(index, documents)


def test_clusters_look_at_so_many_characters_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offered: list[int] = []
    budgets: list[int] = []
    plain_offer, plain_init = Decider.offer, Decider.__init__

    def offer(self: Decider, sketches: Any, *rest: Any, **named: Any) -> Any:
        offered.append(len(sketches))
        return plain_offer(self, sketches, *rest, **named)

    def init(self: Decider, rule: Any, budget: int, *rest: Any) -> None:
        budgets.append(budget)
        plain_init(self, rule, budget, *rest)

    documents = texts() | {f"copy of {id_}": text for id_, text in list(texts().items())[:5]}
    with la.open(tmp_path / "s") as index:
        index.add(documents.items())
        whole = index.clusters("near", threshold=0.8)
        monkeypatch.setattr(clustering, "CHARACTERS_AT_A_TIME", BOUND)
        monkeypatch.setattr(Decider, "offer", offer)
        monkeypatch.setattr(Decider, "__init__", init)
        assert list(index.clusters("near", threshold=0.8)) == list(whole)
    assert len(whole) == 5
    assert sum(offered) == len(documents)
    assert max(offered) <= BOUND // LENGTH + 2
    assert budgets == [clustering.MEMORY]


def test_joined_stretches(tmp_path: Path) -> None:
    parts = [Stretch.stored(rows, {"text": words, "simhash": values}) for rows, words, values in _stretches()]
    joined = Stretch.joined(parts)
    assert joined.rows.tolist() == [3, 4, 7]
    assert joined.columns["text"][0].tolist() == [3, 7]
    assert joined.columns["text"][1] == ["one", "three"]
    assert joined.columns["simhash"][1].tolist() == [1, 2, 3]
    assert joined.nbytes() == sum(part.nbytes() for part in parts)


def _stretches() -> Sequence[tuple[list[int], list[str | None], list[int]]]:
    return [([3, 4], ["one", None], [1, 2]), ([7], ["three"], [3])]
