"""Documents that share passages: against a slow search over dictionaries, and on texts whose answer is known."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.model import Passage
from lookalike.segments import shared
from lookalike.segments.passages import PassageSegment
from lookalike.segments.shared import SharedResult, shared_documents

NOTHING = np.zeros(0, dtype=np.int64)
Corpus = dict[int, la.Winnowing]


def segment_of(corpus: Corpus) -> PassageSegment:
    rows = sorted(corpus)
    prints = [corpus[row] for row in rows]
    spans = np.array([span for one in prints for span in one.spans], dtype=np.uint32).reshape(-1, 2)
    return PassageSegment.build(
        np.array(rows, dtype=np.int64),
        np.cumsum([0, *map(len, prints)], dtype=np.int64),
        np.array([value for one in prints for value in one.values], dtype=np.uint64),
        spans[:, 0],
        spans[:, 1],
    )


def search(corpus: Corpus, query: la.Winnowing, *, common: int | None = None, limit: int = 1000) -> SharedResult:
    return shared_documents([segment_of(corpus)], query, documents=len(corpus), removed=NOTHING, common=common, limit=limit)


# ---- The slow version


class Print(NamedTuple):
    value: int
    rank: int
    start: int
    end: int


def prints_of(one: la.Winnowing, also_in: la.Winnowing) -> list[Print]:
    return [
        Print(value, rank, *span)
        for rank, (value, span) in enumerate(zip(one.values, one.spans, strict=True))
        if value in set(also_in.values)
    ]


def follows(before: Sequence[Print], after: Sequence[Print]) -> bool:
    """Whether nothing between two pairs is known to differ: neighbours on both sides, or touching spans on both sides."""
    neighbours = all(b.rank == a.rank + 1 for a, b in zip(before, after, strict=True))
    return neighbours or all(b.start <= a.end for a, b in zip(before, after, strict=True))


def walk(left: list[Print], right: list[Print], i: int, j: int, way: int, edge: int) -> list[tuple[int, int]]:
    """The pairs that continue (i, j) one after the other, forward or backward, up to the edge on the left."""
    path = []
    while True:
        near = [
            (i + way * a, j + way * b)
            for a in range(1, 9)
            for b in range(1, 9)
            if 0 <= j + way * b < len(right) and (edge - i) * way - a >= 0
        ]
        here = left[i], right[j]
        for a, b in near:
            there = left[a], right[b]
            if there[0].value == there[1].value and follows(*((here, there) if way > 0 else (there, here))):
                i, j = a, b
                path.append((i, j))
                break
        else:
            return path


def slow_cover(left: list[Print], right: list[Print], counts: set[int], done: set[int]) -> list[list[tuple[int, int]]]:
    """Runs of pairs that cover the left side: at each place that is not covered yet, the one with the most pairs that count."""
    runs = []
    covered = 0
    for i, print_ in enumerate(left):
        if i < covered or i in done or print_.value not in counts:
            continue
        best: list[tuple[int, int]] = []
        for j in [j for j, other in enumerate(right) if other.value == print_.value][:32]:
            back = walk(left, right, i, j, -1, max(covered - 64, 0))
            run = [*reversed(back), (i, j), *walk(left, right, i, j, 1, len(left) - 1)]
            run = [pair for pair in run if left[pair[0]].value in counts]
            if len(run) > len(best):
                best = run
        covered = best[-1][0] + 1
        runs.append(best)
    return runs


def slow_passages(query: la.Winnowing, document: la.Winnowing, counts: set[int]) -> tuple[Passage, ...]:
    left, right = prints_of(query, document), prints_of(document, query)
    runs = slow_cover(left, right, counts, set())
    done = {j for run in runs for j in range(run[0][1], run[-1][1] + 1)}
    copies = slow_cover(right, left, counts, done)
    runs += [[(a, b) for b, a in run] for run in copies]
    found = {Passage((left[run[0][0]].start, left[run[-1][0]].end), (right[run[0][1]].start, right[run[-1][1]].end)) for run in runs}
    return tuple(sorted(found))


def slow(corpus: Corpus, query: la.Winnowing, *, common: int | None, limit: int) -> SharedResult:
    bound = max(50, len(corpus) // 100) if common is None else common
    distinct = set(query.values)
    frequency = {value: sum(value in one.values for one in corpus.values()) for value in distinct}
    used = {value for value in distinct if frequency[value] <= bound}
    rarest = bool(distinct) and not used
    if rarest:
        total = 0
        for value in sorted(distinct, key=lambda value: (frequency[value], value)):
            total += frequency[value]
            if used and total > shared.MAX_RAREST:
                break
            used.add(value)
    spans: list[tuple[int, int]] = []
    for start, end in sorted(span for value, span in zip(query.values, query.spans, strict=True) if value not in used):
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], end))
        else:
            spans.append((start, end))
    left_out = distinct - used
    skipped = shared.Skipped(len(left_out), tuple(spans), max((frequency[value] for value in left_out), default=0))
    sharing = {row: len(used & set(one.values)) for row, one in corpus.items() if used & set(one.values)}
    ranked = sorted(sharing, key=lambda row: (-sharing[row], row))[:limit]
    documents = tuple(
        shared.SharedDocument(row, sharing[row], sharing[row] / len(used), slow_passages(query, corpus[row], used)) for row in ranked
    )
    return SharedResult(documents, len(sharing), len(used), skipped, bound, rarest)


# A small vocabulary, so that texts repeat themselves and each other; k and window both larger and smaller than the other.
words = st.lists(st.sampled_from("abcdefghij"), max_size=40).map(" ".join)
sizes = st.sampled_from([(2, 2), (3, 2), (1, 4), (2, 5)])


@given(st.lists(words, max_size=8), words, sizes, st.none() | st.integers(0, 4), st.integers(1, 9))
@settings(max_examples=300)
def test_equals_the_slow_version(texts: list[str], text: str, size: tuple[int, int], common: int | None, limit: int) -> None:
    k, window = size
    corpus = {row * 3: la.winnow(one, k=k, window=window) for row, one in enumerate(texts)}
    query = la.winnow(text, k=k, window=window)
    assert search(corpus, query, common=common, limit=limit) == slow(corpus, query, common=common, limit=limit)


def fingerprint_of(values: list[int], edges: list[int]) -> la.Winnowing:
    """With spans that ascend at both ends, as those of a text do, but are of any length and any distance."""
    count = min(len(values), len(edges) // 2)
    starts, ends = edges[:count], edges[len(edges) - count :]
    spans = tuple(zip(sorted(starts), (max(pair) for pair in zip(sorted(starts), sorted(ends), strict=True)), strict=True))
    return la.Winnowing(tuple(values[:count]), spans, 2, "winnowing-4/x")


fingerprints = st.builds(fingerprint_of, st.lists(st.integers(0, 5), max_size=60), st.lists(st.integers(0, 150), max_size=120))


@given(fingerprints, fingerprints, st.sets(st.integers(0, 5)))
@settings(max_examples=300)
def test_passages_of_any_fingerprints(query: la.Winnowing, document: la.Winnowing, boilerplate: set[int]) -> None:
    """Hashes that stand everywhere, spans of any length; some of the hashes in other documents too, and therefore skipped."""
    corpus = {0: document, 1: la.Winnowing(tuple(boilerplate), ((0, 1),) * len(boilerplate), 2, "winnowing-4/x")}
    assert search(corpus, query, common=1) == slow(corpus, query, common=1, limit=1000)


@given(
    st.lists(words, min_size=1, max_size=10),
    words,
    st.integers(0, 3),
    st.lists(st.integers(0, 3), min_size=10, max_size=10),
    st.sets(st.integers(0, 9)),
)
@settings(max_examples=150)
def test_segments_and_removals_do_not_change_the_result(texts: list[str], text: str, common: int, homes: list[int], gone: set[int]) -> None:
    corpus = {row: la.winnow(one, k=2, window=2) for row, one in enumerate(texts)}
    query = la.winnow(text, k=2, window=2)
    kept = {row: one for row, one in corpus.items() if row not in gone}
    removed = np.array(sorted(gone), dtype=np.int64)
    parts = [segment_of({row: one for row, one in corpus.items() if homes[row] == home}) for home in range(4)]
    expected = slow(kept, query, common=common, limit=4)
    arguments = {"documents": len(kept), "common": common, "limit": 4}
    assert shared_documents(parts, query, removed=removed, **arguments) == expected
    assert shared_documents(parts[::-1], query, removed=removed, **arguments) == expected
    assert shared_documents([PassageSegment.merge(parts, removed)], query, removed=NOTHING, **arguments) == expected
    assert shared_documents([PassageSegment.merge(parts, NOTHING)], query, removed=removed, **arguments) == expected


def test_many_documents_equal_the_slow_version() -> None:
    """Enough matches that counting takes the place of sorting."""
    generator = random.Random(3)
    corpus = {row: la.winnow(" ".join(generator.choices("abcdefgh", k=12)), k=2, window=2) for row in range(300)}
    query = la.winnow(" ".join(generator.choices("abcdefgh", k=30)), k=2, window=2)
    for common in (None, 60, 300):
        assert search(corpus, query, common=common, limit=20) == slow(corpus, query, common=common, limit=20)


# ---- Texts whose answer is known

VOCABULARY = [
    a + b for a in ("ba", "ko", "mi", "ru", "ta", "se", "lo", "ni") for b in ("dor", "fen", "gul", "hap", "jot", "kim", "lan", "mes")
]
QUOTE = (
    "Every shared run of at least k plus window minus one tokens shares one of the kept hashes, and each of them carries its place, "
    "so that a match can be shown to whoever asks: nothing is guessed, and nothing that is long enough is missed."
)


def prose(generator: random.Random, count: int) -> str:
    return " ".join(generator.choices(VOCABULARY, k=count)).capitalize() + "."


def lost(outer: tuple[int, int], inner: tuple[int, int], text: str) -> tuple[int, int]:
    """Tokens of the outer span before and behind the inner one."""
    return len(text[outer[0] : inner[0]].split()), len(text[inner[1] : outer[1]].split())


def test_a_quoted_paragraph_is_found_with_its_spans() -> None:
    generator = random.Random(11)
    texts = {row: prose(generator, 120) for row in range(40)}
    texts[17] = f"{prose(generator, 80)}\n\n{QUOTE}\n\n{prose(generator, 60)}"
    query_text = f"{prose(generator, 30)} As the manual says: {QUOTE} {prose(generator, 30)}"
    query = la.winnow(query_text)
    found = search({row: la.winnow(text) for row, text in texts.items()}, query)
    best = found.documents[0]
    assert best.row == 17
    assert 0.2 < best.share < 0.8
    (passage,) = best.passages
    assert query_text[slice(*passage.left)] == texts[17][slice(*passage.right)]
    (exact,) = (one for one in query.passages(la.winnow(texts[17])) if len(query_text[slice(*one.left)]) > 100)
    for side, text in ((0, query_text), (1, texts[17])):
        assert all(tokens < 4 for tokens in lost(exact[side], passage[side], text))
        assert text[slice(*exact[side])] in QUOTE


def test_a_quotation_in_chinese_with_other_punctuation() -> None:
    quote = "近重复检测的核心是指纹：相似的文本得到相近的指纹，不同的文本得到不同的指纹，这样就能在百万篇文档里找到彼此相像的那几篇。"
    document = f"前言。很久以前有人这样写过。{quote}后来的人都忘记了这句话。"
    text = f"他在信里说：「{quote.replace('：', ':').replace('，', ', ')}」然后就走了。"
    found = search({5: la.winnow("完全无关的另一篇文章，讲的是天气和收成。"), 8: la.winnow(document)}, la.winnow(text))
    (best,) = found.documents
    (passage,) = best.passages
    (exact,) = la.winnow(text).passages(la.winnow(document))
    for side in (0, 1):
        assert exact[side][0] <= passage[side][0] < passage[side][1] <= exact[side][1]
        assert passage[side][0] - exact[side][0] <= 6
        assert exact[side][1] - passage[side][1] <= 6
    letters = [[c for c in one if c.isalpha()] for one in (text[slice(*passage.left)], document[slice(*passage.right)])]
    assert letters[0] == letters[1]


@given(st.integers(0, 10_000), st.lists(st.integers(3, 25), min_size=1, max_size=5))
@settings(max_examples=100)
def test_every_passage_lies_in_an_exact_one_and_every_long_one_is_found(seed: int, lengths: list[int]) -> None:
    generator = random.Random(seed)
    vocabulary = [f"w{i}" for i in range(5_000)]
    fragments = [" ".join(generator.sample(vocabulary, length)) for length in lengths]
    texts = [
        " ".join(part for one in order for part in (one, " ".join(generator.sample(vocabulary, 12))))
        for order in (fragments, fragments[::-1])
    ]
    query, document = (la.winnow(text) for text in texts)
    exact = query.passages(document)
    passages = search({0: document}, query).documents[0].passages if set(query.values) & set(document.values) else ()
    for passage in passages:
        assert texts[0][slice(*passage.left)] == texts[1][slice(*passage.right)]
        assert any(one.left[0] <= passage.left[0] and passage.left[1] <= one.left[1] for one in exact)
    for one in exact:
        if len(texts[0][slice(*one.left)].split()) >= 8:
            inside = [p for p in passages if one.left[0] <= p.left[0] and p.left[1] <= one.left[1]]
            assert len(inside) == 1
            assert all(tokens < 4 for tokens in lost(one.left, inside[0].left, texts[0]))


def test_a_quotation_that_stands_twice_is_found_twice() -> None:
    generator = random.Random(2)
    document = f"{QUOTE} {prose(generator, 40)} {QUOTE}"
    query = la.winnow(QUOTE)
    (best,) = search({1: la.winnow(document)}, query).documents
    assert best.shared == len(set(query.values))
    assert best.share == 1.0
    whole = query.spans[0][0], query.spans[-1][1]
    assert [passage.left for passage in best.passages] == [whole, whole]
    assert [document[slice(*passage.right)] for passage in best.passages] == [QUOTE[slice(*whole)]] * 2


def test_a_changed_word_parts_a_passage() -> None:
    document = QUOTE.replace("carries", "bears")
    (best,) = search({1: la.winnow(document)}, la.winnow(QUOTE)).documents
    left, right = best.passages
    assert "carries" not in QUOTE[slice(*left.left)] + QUOTE[slice(*right.left)]
    assert left.left[1] < QUOTE.index("carries") < right.left[0]


# ---- Boilerplate

FOOTER = "All rights reserved. No part of this page may be copied without the written permission of its owner and of everyone else."


def pages(count: int, seed: int = 5) -> list[str]:
    generator = random.Random(seed)
    return [f"{prose(generator, 40)} {FOOTER}" for _ in range(count)]


def test_boilerplate_is_skipped_and_reported() -> None:
    texts = pages(60)
    corpus = {row: la.winnow(text) for row, text in enumerate(texts)}
    query_text = texts[7]
    found = search(corpus, la.winnow(query_text))
    assert (found.common, found.rarest) == (50, False)
    assert found.documents[0].row == 7
    assert found.total < 10
    assert found.skipped.documents == 60
    assert found.skipped.hashes + found.searched == len(set(la.winnow(query_text).values))
    (span,) = found.skipped.spans
    assert query_text[slice(*span)] in FOOTER
    assert len(query_text[slice(*span)].split()) > len(FOOTER.split()) - 4
    # Not skipped where it is no boilerplate: one document fewer than the bound, or another bound.
    assert search(corpus, la.winnow(query_text), common=60).total == 60
    fewer = {row: one for row, one in corpus.items() if row < 50}
    assert search(fewer, la.winnow(query_text)).skipped == shared.Skipped(0, (), 0)
    assert search(fewer, la.winnow(query_text)).total == 50


def test_one_percent_of_many_documents() -> None:
    texts = pages(60)
    segment = segment_of({row: la.winnow(text) for row, text in enumerate(texts)})
    for documents, skips in ((5_999, True), (6_000, False)):
        found = shared_documents([segment], la.winnow(FOOTER), documents=documents, removed=NOTHING, limit=3)
        assert found.common == documents // 100
        assert found.rarest == skips


def test_removed_documents_do_not_make_boilerplate() -> None:
    texts = pages(60)
    segment = segment_of({row: la.winnow(text) for row, text in enumerate(texts)})
    for gone, total in ((9, 1), (10, 50)):
        found = shared_documents([segment], la.winnow(texts[30]), documents=60 - gone, removed=np.arange(gone), limit=3)
        assert found.total == total
        assert found.skipped.documents == (60 - gone if total == 1 else 0)


def test_a_query_of_boilerplate_alone_uses_the_rarest_of_it() -> None:
    corpus = {row: la.winnow(text) for row, text in enumerate(pages(60))}
    extended = f"{FOOTER} Printed on recycled paper with ink from plants that grow in the garden behind the house of the editor."
    corpus.update({row: la.winnow(f"{text} {extended}") for row, text in enumerate(pages(55, seed=6), start=60)})
    found = search(corpus, la.winnow(extended), limit=5)
    assert found.rarest
    assert found.total == 115  # few enough that all of it can be used
    assert found.skipped.hashes == 0
    assert [one.row for one in found.documents] == [60, 61, 62, 63, 64]


def test_the_rarest_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = {row: la.winnow(text) for row, text in enumerate(pages(60))}
    query = la.winnow(FOOTER)
    for most, used in ((150, 2), (180, 3), (10, 1)):
        monkeypatch.setattr(shared, "MAX_RAREST", most)
        found = search(corpus, query, limit=5)
        assert (found.rarest, found.searched, found.total) == (True, used, 60)
        assert found.skipped.hashes == len(set(query.values)) - used
        assert found.skipped.documents == 60
        assert found.documents[0].shared == used
        assert found.documents[0].share == 1.0
        assert found == slow(corpus, query, common=None, limit=5)


def test_boilerplate_inside_a_quotation_does_not_part_it() -> None:
    generator = random.Random(9)
    front, back = prose(generator, 30), prose(generator, 30)
    corpus = {row: la.winnow(text) for row, text in enumerate(pages(60))}
    document = f"Something else first. {front} {FOOTER} {back}"
    query_text = f"{front} {FOOTER} {back} And then the end."
    found = search({**corpus, 99: la.winnow(document)}, la.winnow(query_text))
    assert found.skipped.hashes > 5
    assert found.documents[0].row == 99
    (passage,) = found.documents[0].passages
    assert FOOTER in query_text[slice(*passage.left)]
    assert query_text[slice(*passage.left)] == document[slice(*passage.right)]
    # Another text in its place is not passed over.
    other = f"{front} {prose(generator, 22)} {back}"
    assert len(search({**corpus, 99: la.winnow(other)}, la.winnow(query_text)).documents[0].passages) == 2


# ---- Extremes


def test_repetitive_texts_take_linear_time() -> None:
    one, other = la.winnow("buffalo " * 30_000), la.winnow("buffalo " * 20_000 + "end")
    (found,) = search({4: one}, other).documents
    assert (other.spans[0][0], len("buffalo ") * 20_000 - 1) in [passage.left for passage in found.passages]
    (found,) = search({4: la.winnow("a b " * 10_000)}, la.winnow("b a " * 15_000)).documents
    assert found.passages


def test_a_million_equal_documents() -> None:
    count = 1_000_000
    values = np.tile(np.array([5, 6, 7], dtype=np.uint64), count)
    starts = np.tile(np.array([0, 10, 20], dtype=np.uint32), count)
    segment = PassageSegment.build(np.arange(count), np.arange(count + 1) * 3, values, starts, starts + 15)
    query = la.Winnowing((5, 6, 7), ((2, 9), (9, 20), (20, 30)), 5, "winnowing-4/x")
    found = shared_documents([segment], query, documents=count, removed=np.arange(10), limit=2)
    assert (found.rarest, found.total, found.searched) == (True, count - 10, 1)
    assert found.skipped == shared.Skipped(2, ((9, 30),), count - 10)
    assert [one.row for one in found.documents] == [10, 11]
    found = shared_documents([segment], query, documents=count, removed=np.arange(10), limit=1, common=count)
    assert found.documents == (shared.SharedDocument(10, 3, 1.0, (Passage((2, 30), (0, 35)),)),)


def test_nothing_to_search() -> None:
    empty = SharedResult((), 0, 0, shared.Skipped(0, (), 0), 50, False)
    assert search({}, la.winnow("")) == empty
    assert search({1: la.winnow("a b c d e f")}, la.winnow("")) == empty
    assert shared_documents([], la.winnow(""), documents=0, removed=NOTHING, limit=1) == empty
    found = shared_documents([], la.winnow(QUOTE), documents=0, removed=NOTHING, limit=1)
    assert (found.total, found.documents, found.searched) == (0, (), len(set(la.winnow(QUOTE).values)))


@pytest.mark.parametrize(
    "change",
    [
        {"limit": 0},
        {"limit": True},
        {"limit": 2.5},
        {"documents": -1},
        {"documents": None},
        {"common": -1},
        {"common": "9"},
        {"removed": [1, 2]},
        {"removed": np.array([2, 1])},
        {"removed": np.array([1.0])},
        {"query": "text"},
        {"query": la.Winnowing((1,), ((5, 4),), 5, "winnowing-4/x")},
        {"query": la.Winnowing((1,), ((-1, 4),), 5, "winnowing-4/x")},
        {"query": la.Winnowing((1,), ((0, 2**32),), 5, "winnowing-4/x")},
    ],
)
def test_bad_input_is_refused(change: dict[str, object]) -> None:
    segments = [segment_of({1: la.winnow(QUOTE)})]
    arguments = {"query": la.winnow(QUOTE), "documents": 1, "removed": NOTHING, "limit": 1}
    assert shared_documents(segments, **arguments).total == 1  # type: ignore[arg-type]
    with pytest.raises(la.InputError):
        shared_documents(segments, **{**arguments, **change})  # type: ignore[arg-type]
