"""Features of kept documents are not held where texts can be read again: what is decided stays the same, and what changed meanwhile is found."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from dedupe_corpora import near_copies, rows_of, write_jsonl
from lookalike import _native
from lookalike.corpus.formats import lines
from lookalike.deduping import working_files
from lookalike.deduping.working_files import Journal

FORM = (0, True, 2, 0)
SIZE, BANDS, ROWS = 16, 5, 3
KEY = np.array([3, 5, 7, 11], np.uint64)
WORDS = ["alpha", "beta", "gamma", "delta", "river", "king", "相", "似", '"quoted"', "line\nbreak", "a-very-long-word-indeed"]
texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), max_size=24)


class Corpus(NamedTuple):
    files: list[_native.RowFile]
    numbers: np.ndarray
    extents: np.ndarray

    def part(self, first: int, last: int) -> tuple[list[_native.RowFile], np.ndarray, np.ndarray]:
        return self.files, self.numbers[first:last], self.extents[2 * first : 2 * last]


def written(folder: Path, documents: Sequence[str], count: int = 2) -> Corpus:
    """Documents in files by turns, with other columns around the texts."""
    rows: list[list[bytes]] = [[] for _ in range(count)]
    places, ends = [], [0] * count
    for i, text in enumerate(documents):
        line = json.dumps({"id": i, "text": text, "more": [i]}, ensure_ascii=i % 3 == 0).encode() + b"\n"
        rows[i % count].append(line)
        places += [ends[i % count], ends[i % count] + len(line)]
        ends[i % count] += len(line)
    for i, own in enumerate(rows):
        (folder / f"{i}.jsonl").write_bytes(b"".join(own))
    files = [_native.RowFile(os.fsencode(folder / f"{i}.jsonl"), f"{i}.jsonl", "text") for i in range(count)]
    return Corpus(files, (np.arange(len(documents)) % count).astype(np.uint32), np.array(places, np.int64))


def sketched(documents: Sequence[str], keep: bool, key: np.ndarray | None) -> list[np.ndarray]:
    data, offsets = _native.pack_strings(list(documents))
    found = _native.sketch_documents(data, offsets, *FORM, SIZE, BANDS, ROWS, 1, None, key, keep)
    return [np.asarray(part) for part in found]


def without_features(sketches: list[np.ndarray]) -> list[np.ndarray]:
    return [np.zeros(0, np.uint64), np.zeros(len(sketches[1]), np.int64), *sketches[2:]]


def decided(leaders: _native.Leaders, parts: Sequence[tuple[Any, ...]], **how: Any) -> Any:
    decisions = [list(zip(*leaders.offer(*part[:4], True, *part[4:], **how), strict=True)) for part in parts]
    return [each for part in decisions for each in part], leaders.compared, leaders.kept, leaders.hot_buckets(1000)


def all_ways(folder: Path, documents: list[str], cut: int, limit: int, workers: int = 1, threshold: float = 0.7) -> list[Any]:
    """Decided with features that are held; with those at hand and rows; with rows alone; and with some of each."""
    corpus, key = written(folder, documents), KEY
    halves = [(0, cut), (cut, len(documents))]
    eager = [tuple(sketched(documents[first:last], True, key)) for first, last in halves]
    raw = [sketched(documents[first:last], False, key) for first, last in halves]
    rows = [corpus.part(first, last) for first, last in halves]
    at_hand = [(*raw[i][:4], workers, *rows[i]) for i in range(2)]
    alone = [(*without_features(raw[i])[:4], workers, *rows[i]) for i in range(2)]
    held = [(*eager[i], workers) for i in range(2)]
    ways = [held, at_hand, alone, [at_hand[0], held[1]], [held[0], at_hand[1]], [alone[0], held[1]]]
    return [decided(_native.Leaders(BANDS, threshold, limit, False, FORM, key), parts) for parts in ways]


@given(texts, st.integers(0, 24), st.sampled_from([1, 3, 100]))
def test_what_is_made_again_decides_as_what_was_held(
    tmp_path_factory: pytest.TempPathFactory, documents: list[str], cut: int, limit: int
) -> None:
    found = all_ways(tmp_path_factory.mktemp("rows"), documents, min(cut, len(documents)), limit)
    assert found[1:] == found[:1] * (len(found) - 1)


@pytest.mark.parametrize("workers", [1, 3])
def test_many_threads_and_pieces(tmp_path: Path, workers: int) -> None:
    """Some are compared once and some often, with others of their piece and with those of earlier ones."""
    documents = near_copies(7, 3000, 40)
    found = all_ways(tmp_path, documents, 1700, 100, workers)
    assert found[1:] == found[:1] * (len(found) - 1)
    assert found[0][2] < len(documents)


def test_features_are_held_from_the_second_time_on(tmp_path: Path) -> None:
    text = " ".join(f"word{i}" for i in range(200))
    documents = [text, *(f"{text} and {i} more" for i in range(3))]
    corpus = written(tmp_path, documents)
    leaders = _native.Leaders(BANDS, 0.7, 100, False, FORM)
    held = []
    for i in range(4):
        part = sketched(documents[i : i + 1], False, None)
        decisions = leaders.offer(*part, True, 1, *corpus.part(i, i + 1))
        assert list(decisions[0]) == [-1 if i == 0 else 0]
        held.append(leaders.chunks)
    assert held == [0, 0, 1, 1]
    assert len(leaders.chunk(0)) == 199
    (tmp_path / "0.jsonl").unlink()  # nobody asks for it any more
    again = sketched([f"{text} and yet another"], False, None)
    assert list(leaders.offer(*again, True, 1, *corpus.part(1, 2))[0]) == [0]


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def edited(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"word7 ", b"word8 "))


def broken(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"{", b"["))


@pytest.mark.parametrize("change", [emptied, edited, broken, Path.unlink])
@pytest.mark.parametrize("which", [0, 1])
def test_a_row_that_changed_is_named(tmp_path: Path, change: Callable[[Path], object], which: int) -> None:
    """That of the kept document, and that of the one which is compared."""
    text = " ".join(f"word{i}" for i in range(50))
    documents = [text, f"{text} and more"]
    corpus = written(tmp_path, documents)
    leaders = _native.Leaders(BANDS, 0.7, 100, False, FORM)
    parts = [without_features(sketched([each], False, None)) for each in documents]
    leaders.offer(*parts[0], True, 1, *corpus.part(0, 1))
    change(tmp_path / f"{which}.jsonl")
    with pytest.raises(_native.RowChanged, match=rf"{which}\.jsonl"):
        leaders.offer(*parts[1], True, 1, *corpus.part(1, 2))


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    text = " ".join(f"word{i}" for i in range(50))
    corpus = written(tmp_path, [text, f"{text} and more"], 1)
    leaders = _native.Leaders(BANDS, 0.7, 100, False, FORM)
    leaders.offer(*sketched([text], False, None), True, 1, *corpus.part(0, 1))
    (tmp_path / "0.jsonl").unlink()
    (tmp_path / "0.jsonl").mkdir()
    with pytest.raises(IsADirectoryError, match="jsonl"):
        leaders.offer(*sketched([f"{text} and more"], False, None), True, 1, *corpus.part(1, 2))


def test_hostile_rows(tmp_path: Path) -> None:
    corpus = written(tmp_path, ["one two three"])
    part = sketched(["one two three"], False, None)
    leaders = _native.Leaders(BANDS, 0.7, 100, False, FORM)
    files, numbers, extents = corpus
    for wrong in (
        (files, np.array([2], np.uint32), extents),
        (files, numbers, extents[:1]),
        (files, numbers[:0], extents),
        (files, numbers, extents[::-1].copy()),
        (files, numbers, np.array([-5, 7])),
        (files, numbers, np.array([0, 1 << 40])),
        (files, None, extents),
        ([], numbers, extents),
    ):
        with pytest.raises(ValueError, match="rows"):
            leaders.offer(*part, True, 1, *wrong)
    with pytest.raises((TypeError, ValueError)):
        leaders.offer(*part, True, 1, [None], numbers, extents)  # type: ignore[list-item]
    with pytest.raises(ValueError, match="form"):
        _native.Leaders(BANDS, 0.7, 100).offer(*part, True, 1, *corpus)
    assert list(leaders.offer(*part, True, 1, *corpus)[0]) == [-1]


def verdicts(report: la.DedupeReport) -> list[tuple[Any, ...]]:
    return sorted((removed.id, removed.kept_id, removed.similarity) for removed in report.removed)


@pytest.mark.parametrize("keep", ["first", "longest", "best:rank"])
@pytest.mark.parametrize("workers", [1, 4])
def test_files_and_tables_lead_to_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: str, workers: int) -> None:
    """More files than stay open; rows without a text, rows that cannot be used and a byte order mark among them."""
    monkeypatch.setattr(lines, "BLOCK", 2000)
    rows: list[dict[str, Any]] = rows_of(near_copies(11, 400, 60), rank=[i * 7 % 13 for i in range(400)])
    for i in range(0, 400, 9):
        rows[i]["text"] = None if i % 2 else ""
    expected = la.dedupe(rows, keep=keep, workers=1)
    paths = [write_jsonl(tmp_path / f"{i:02}.jsonl", rows[10 * i : 10 * i + 10]) for i in range(40)]
    paths[3].write_bytes(b"\xef\xbb\xbf" + paths[3].read_bytes())
    paths[5].write_bytes(b"\n{broken\n" + paths[5].read_bytes())
    paths.insert(20, write_jsonl(tmp_path / "empty.jsonl", []))
    found = la.dedupe(paths, keep=keep, workers=workers, on_error="skip")
    assert verdicts(found) == verdicts(expected)
    assert found.to_dict()["compared"] == expected.to_dict()["compared"]


@pytest.mark.parametrize("keep", ["first", "longest"])
def test_a_file_that_changes_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: str) -> None:
    monkeypatch.setattr(lines, "BLOCK", 2000)
    source = write_jsonl(tmp_path / "in.jsonl", rows_of(near_copies(3, 200, 60)))
    steps = 0

    def changed(step: object) -> None:
        nonlocal steps
        steps += 1
        if steps == 8:
            with open(source, "r+b") as file:
                file.write(source.read_bytes().lower().replace(b"e", b"a")[:9000])

    with pytest.raises(la.InputError, match=r"in\.jsonl' was changed while it was read: run again"):
        la.dedupe(source, out=tmp_path / "out.jsonl", keep=keep, progress=changed, workers=1, on_error="skip")
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_what_can_be_made_again_is_not_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that can be resumed writes little beside its output; and one that decides at the end writes nothing."""
    source = write_jsonl(tmp_path / "in.jsonl", rows_of(near_copies(5, 300, 400)))
    sizes = []
    finish = Journal.finish_source

    def noted(self: Journal, problems: Any) -> None:
        sizes.append(self._data.stat().st_size)
        finish(self, problems)

    monkeypatch.setattr(working_files.Journal, "finish_source", noted)
    whole = la.dedupe(source, out=tmp_path / "out.jsonl", resume=True)
    assert 0 < sizes[0] < source.stat().st_size / 5
    longest = la.dedupe(source, out=tmp_path / "longest.jsonl", keep="longest")
    assert len(sizes) == 1
    assert len(longest.removed) > 0
    assert len(whole.removed) > 0
