"""The kernels of dedupe against their slow versions, and under hostile input."""

from __future__ import annotations

import itertools
import json
import random
from array import array
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import reference
import reference_dedupe
from lookalike import _native

SIZE, BANDS, ROWS = 16, 5, 3
KEY = array("Q", [3, 1 << 63 | 77, 5, 0x9E3779B97F4A7C15])
WORDS = ["alpha", "beta", "gamma", "delta", "river", "king", "相", "似"]
texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join), max_size=24)


def sketched(documents: list[str], bands: int = BANDS, workers: int = 1) -> list[np.ndarray]:
    data, offsets = _native.pack_strings(documents)
    found = _native.sketch_documents(data, offsets, 0, True, 2, 0, SIZE, bands, ROWS, workers, None, KEY)
    return [np.asarray(part) for part in found]


def shingled(text: str) -> list[int]:
    return reference.text_shingles(text, "auto", 2)


@given(texts)
def test_sketches(documents: list[str]) -> None:
    features, offsets, digests, keys = sketched(documents)
    for i, text in enumerate(documents):
        shingles = shingled(text)
        tokens = [token.encode() for token, _, _ in reference.tokenize(text, "auto")]
        distinct = list(dict.fromkeys(reference.secret_features(tokens, 2, KEY)))
        assert features[offsets[i] : offsets[i + 1]].tolist() == distinct
        assert keys[i * BANDS : (i + 1) * BANDS].tolist() == reference_dedupe.band_keys(set(shingles), SIZE, BANDS, ROWS)
        for j in range(i):
            assert (digests[2 * i : 2 * i + 2].tolist() == digests[2 * j : 2 * j + 2].tolist()) == (shingles == shingled(documents[j]))
        assert (digests[2 * i : 2 * i + 2].tolist() == [0, 0]) == (not shingles)


def test_many_documents_one_after_the_other() -> None:
    """What tells features apart is used again for each document, and starts anew now and then: nothing of earlier ones is left."""
    documents = [" ".join(WORDS[(i * k) % 8] for k in range(i % 40)) for i in range(700)]
    features, offsets, _, _ = sketched(documents)
    for i, text in enumerate(documents):
        tokens = [token.encode() for token, _, _ in reference.tokenize(text, "auto")]
        assert features[offsets[i] : offsets[i + 1]].tolist() == list(dict.fromkeys(reference.secret_features(tokens, 2, KEY)))


@given(st.lists(st.integers(0, 5), max_size=9), st.integers(40, 200), st.randoms(use_true_random=False))
def test_features_that_fall_on_one_place_are_told_apart(chosen: list[int], others: int, draw: random.Random) -> None:
    inverse = pow(0x9E3779B97F4A7C15, -1, 1 << 64)
    same_place = [(7 << 54 | number) * inverse % (1 << 64) for number in range(6)]
    features = [same_place[number] for number in chosen] + [draw.getrandbits(64) for _ in range(others)]
    draw.shuffle(features)
    found = _native.sketch_feature_lists(array("Q", features), np.array([0, len(features)]), SIZE, BANDS, ROWS, 1)[0]
    assert list(found) == list(dict.fromkeys(features))


@pytest.mark.parametrize("count", [4094, 4097, 20_000])
def test_long_documents_with_repeats(count: int) -> None:
    """A long text is told apart otherwise than a short one."""
    text = " ".join(f"w{i * i % 3001}" for i in range(count))
    features, _, _, _ = sketched([text])
    tokens = [token.encode() for token, _, _ in reference.tokenize(text, "auto")]
    assert features.tolist() == list(dict.fromkeys(reference.secret_features(tokens, 2, KEY)))


def test_workers_do_not_matter() -> None:
    documents = [" ".join(WORDS[i % 7 :] * (i % 9)) for i in range(300)]
    one, three = sketched(documents), sketched(documents, workers=3)
    assert all((left == right).all() for left, right in zip(one, three, strict=True))


def test_without_bands_there_are_digests_alone() -> None:
    features, offsets, digests, keys = sketched(["a b c", "a b c", ""], bands=0)
    assert len(features) == len(keys) == 0
    assert offsets.tolist() == [0, 0, 0, 0]
    assert digests[:2].tolist() == digests[2:4].tolist() != digests[4:].tolist() == [0, 0]


def test_sketches_of_features_are_those_of_the_text() -> None:
    features = array("Q", shingled("alpha beta gamma alpha beta"))
    given_features = _native.sketch_feature_lists(features, array("q", (0, len(features))), SIZE, BANDS, ROWS, 1)
    assert list(given_features[0]) == list(dict.fromkeys(features))
    assert bytes(given_features[3]) == sketched(["alpha beta gamma alpha beta"])[3].tobytes()


@st.composite
def documents_of_features(draw: st.DrawFn, size: int | None = None) -> list[tuple[int, set[int], list[int]]]:
    """Digest, features and keys of documents; those of equal digests are equal. With ``size`` all have so many features."""
    values = st.integers(0, 9) | st.sampled_from([2**64 - 1])
    features = st.sets(values, min_size=size or 0, max_size=size or 8)
    contents = draw(st.lists(st.tuples(features, st.lists(st.integers(0, 3), min_size=2, max_size=2)), min_size=1, max_size=13))
    digests = draw(st.lists(st.integers(0, len(contents) - 1), max_size=40))
    return [(digest, *contents[digest]) for digest in digests]


def offer(leaders: _native.Leaders, part: list[tuple[int, set[int], list[int]]], **how: Any) -> list[reference_dedupe.Decision]:
    features = [sorted(each) for _, each, _ in part]
    offsets = np.cumsum([0, *map(len, features)], dtype=np.int64)
    flat = np.array([value for each in features for value in each], dtype=np.uint64)
    digests = np.array([word for digest, _, _ in part for word in (digest, digest)], dtype=np.uint64)
    keys = np.array([key for _, _, keys in part for key in keys], dtype=np.uint64)
    found = leaders.offer(flat, offsets, digests, keys, **how)
    return [(None if leader < 0 else leader, similarity) for leader, similarity in zip(*found, strict=True)]


def offered(
    documents: list[tuple[int, set[int], list[int]]], threshold: float, limit: int, cut: int, estimated: bool = False, stay: bool = False
) -> list[reference_dedupe.Decision]:
    leaders = _native.Leaders(2, threshold, limit, estimated)
    decisions = [decision for part in (documents[:cut], documents[cut:]) for decision in offer(leaders, part, stay=stay)]
    assert leaders.documents == len(documents)
    assert leaders.kept == sum(leader is None for leader, _ in decisions)
    return decisions


@given(documents_of_features(), st.sampled_from([0.2, 0.5, 0.8, 1.0]), st.sampled_from([1, 2, 100]), st.integers(0, 40), st.booleans())
def test_leaders(documents: list[tuple[int, set[int], list[int]]], threshold: float, limit: int, cut: int, stay: bool) -> None:
    """Wherever the features of kept documents lie."""
    assert offered(documents, threshold, limit, cut, stay=stay) == reference_dedupe.leaders(documents, threshold, limit)


@given(documents_of_features(size=4), st.sampled_from([0.25, 0.5, 0.8, 1.0]), st.integers(0, 40))
def test_leaders_by_estimates(documents: list[tuple[int, set[int], list[int]]], threshold: float, cut: int) -> None:
    measure = reference_dedupe.share_of_values
    assert offered(documents, threshold, 100, cut, True) == reference_dedupe.leaders(documents, threshold, 100, measure)


@given(documents_of_features(), st.sampled_from([0.2, 0.5, 0.8, 1.0]), st.sampled_from([1, 2, 100]), st.integers(0, 40))
def test_documents_offered_together_are_decided_as_one_by_one(
    documents: list[tuple[int, set[int], list[int]]], threshold: float, limit: int, cut: int
) -> None:
    """The same pairs are compared as well, and the same buckets are full."""
    together, alone = _native.Leaders(2, threshold, limit), _native.Leaders(2, threshold, limit)
    decisions = offer(together, documents[:cut]) + offer(together, documents[cut:])
    assert decisions == [decision for document in documents for decision in offer(alone, [document])]
    assert (together.compared, together.kept) == (alone.compared, alone.kept)
    assert together.hot_buckets(100) == alone.hot_buckets(100)


@pytest.mark.parametrize("limit", [2, 40, 1000])
def test_threads_decide_as_one_does(limit: int) -> None:
    """Thousands of documents are several pieces; of each, some are copies of others in it or before it, and many share keys."""
    draw = random.Random(limit)
    contents = [(i, {draw.randrange(400) for _ in range(20)}, [draw.randrange(300), draw.randrange(30)]) for i in range(2500)]
    for i in range(0, 2500, 3):  # nearly another one
        _, features, keys = contents[draw.randrange(2500)]
        contents[i] = (i, {*list(features)[1:], 500 + i}, keys)
    documents = [draw.choice(contents) for _ in range(5000)]
    found = []
    for workers in (1, 3):
        leaders = _native.Leaders(2, 0.8, limit)
        decisions = [each for first in range(0, 5000, 1700) for each in offer(leaders, documents[first : first + 1700], workers=workers)]
        found.append((decisions, leaders.compared, leaders.kept, leaders.hot_buckets(10_000)))
    assert found[0] == found[1]
    assert found[0][0] == reference_dedupe.leaders(documents, 0.8, limit)
    assert bool(found[0][3]) == (limit < 1000)


def test_documents_that_begin_or_end_alike() -> None:
    """Ends that two documents have in common are not looked up one by one: what lies between them is, in a set that others may have filled before."""
    documents = [
        (1, set(range(10, 30)), [0, 0]),
        (2, {*range(10, 15), *range(40, 45), *range(46, 56)}, [0, 1]),  # alike at the front alone
        (3, set(range(10, 27)), [0, 2]),  # all of it is the front of the first
        (4, set(range(13, 30)), [0, 3]),  # … and its end
        (5, {*range(10, 18), *range(21, 30)}, [0, 4]),  # … and both
        (6, {*range(10, 18), 8, 9, *range(21, 30)}, [0, 5]),
    ]
    assert offered(documents, 0.8, 100, 3) == reference_dedupe.leaders(documents, 0.8, 100)
    assert [leader for leader, _ in offered(documents, 0.8, 100, 3)] == [None, None, 0, 0, 0, None]


def test_a_copy_points_at_the_most_similar_document_of_its_own_turn() -> None:
    first, copied, nearer = set(range(10)), set(range(1, 12)), set(range(2, 13))
    documents = [(1, first, [0, 0]), (2, copied, [0, 0]), (3, nearer, [0, 0]), (2, copied, [0, 0])]
    decisions = offered(documents, 0.72, 100, 4)
    assert decisions == [(None, 0.0), (0, 9 / 12), (None, 0.0), (2, 10 / 12)]


@pytest.mark.parametrize("expected", [0, 1, 300, 5000, 100_000])
def test_how_many_are_expected_changes_nothing(expected: int) -> None:
    """Fewer, as many and more than come, before the first one and afterwards."""
    found = []
    for said in (None, expected):
        leaders = _native.Leaders(BANDS, 0.8, 3)
        if said is not None:
            leaders.expect(said, 1 + said % 3)
        decisions = []
        for first in range(0, 600, 200):
            texts = [f"{i % 90} and {i % 7} and some words more of {i % 50}" for i in range(first, first + 200)]
            decisions += np.asarray(leaders.offer(*sketched(texts))[0]).tolist()
            leaders.expect(expected)
        found.append((decisions, leaders.compared, leaders.kept, leaders.hot_buckets(100)))
    assert found[0] == found[1]
    assert 0 < found[0][2] < 600


def test_a_full_bucket_is_named() -> None:
    documents = [(i, {i, i + 100}, [7, i]) for i in range(5)]
    leaders = _native.Leaders(2, 0.8, 3)
    flat = np.array([value for _, features, _ in documents for value in features], dtype=np.uint64)
    digests = np.arange(10, dtype=np.uint64)
    keys = np.array([key for _, _, keys in documents for key in keys], dtype=np.uint64)
    leaders.offer(flat, np.arange(0, 12, 2, dtype=np.int64), digests, keys)
    assert leaders.hot_buckets(10) == [(0, 2, 2)]
    assert leaders.hot_buckets(0) == []


def test_chunks_move_out_of_memory() -> None:
    """Only features of kept documents are there; once they lie elsewhere, decisions stay the same."""
    count, size, copies = 6, 4000, 8
    own = np.arange(1, count * size + 1, dtype=np.uint64)
    flat = np.concatenate([own, *[own[:size]] * copies])
    offsets = np.arange(0, (count + copies) * size + 1, size, dtype=np.int64)
    digests = np.concatenate([np.arange(2, 2 * count + 2, dtype=np.uint64), np.full(2 * copies, 2, np.uint64)])
    digests[3::2], digests[1] = 0, 0
    keys = np.concatenate([np.arange(count, dtype=np.uint64), np.zeros(copies, np.uint64)])
    leaders = _native.Leaders(1, 0.9, 100)
    assert list(leaders.offer(flat, offsets, digests, keys)[0]) == [-1] * count + [0] * copies
    flat = own.copy()
    before = leaders.nbytes
    assert leaders.chunks == 1
    elsewhere = np.array(leaders.chunk(0), dtype=np.uint64)
    assert len(elsewhere) == count * size
    with pytest.raises(ValueError, match="same features"):
        leaders.replace_chunk(0, elsewhere[1:])
    leaders.replace_chunk(0, elsewhere)
    assert leaders.nbytes == before - elsewhere.nbytes
    del elsewhere
    with pytest.raises(ValueError, match="chunk"):
        leaders.chunk(0)
    again = leaders.offer(flat[:size], offsets[:2], digests[:2] + np.uint64(1000), keys[:1])
    assert (list(again[0]), list(again[1])) == ([0], [1.0])
    assert leaders.chunks == 1
    with pytest.raises(ValueError, match="chunk"):
        leaders.replace_chunk(1, flat)
    # What is kept from now on begins another chunk.
    more = np.arange(10**6, 10**6 + size, dtype=np.uint64)
    assert list(leaders.offer(more, offsets[:2], digests[:2] + np.uint64(2000), keys[:1] + np.uint64(77))[0]) == [-1]
    assert leaders.chunks == 2
    assert list(leaders.chunk(1)) == list(more)


@pytest.mark.parametrize("workers", [1, 3])
def test_a_scratch_changes_nothing(workers: int) -> None:
    scratch = _native.FeatureScratch()
    for texts in (["one two three four", "five six", ""], ["a longer text with more words than before " * 9] * 3, []):
        encoded = [text.encode() for text in texts]
        offsets = np.concatenate(([0], np.cumsum([len(text) for text in encoded]))).astype(np.int64)
        given = (b"".join(encoded), offsets, 0, True, 2, 0, SIZE, BANDS, ROWS, workers)
        kept = _native.sketch_documents(*given, scratch)
        assert [list(part) for part in kept] == [list(part) for part in _native.sketch_documents(*given)]
    features = kept[0]
    del scratch
    assert list(features) == []  # what was handed out keeps it alive


def test_more_features_than_a_text_of_its_length_usually_has() -> None:
    letters = random.Random(1).choices("abcdefghijklmnopqrstuvwxyz", k=80_000)
    texts = [" ".join(part).encode() for part in (letters[:50_000], letters[50_000:], letters[:10])]
    given = b"".join(texts), np.cumsum([0, *map(len, texts)]).astype(np.int64), 0, True, 4
    features, offsets = _native.sketch_documents(*given, 0, SIZE, BANDS, ROWS, 1, None, KEY)[:2]
    repeated, ends = map(list, _native.secret_features(*given, False, 1, KEY))
    expected = [list(dict.fromkeys(repeated[first:last])) for first, last in itertools.pairwise(ends)]
    assert [list(features)[first:last] for first, last in itertools.pairwise(list(offsets))] == expected


def test_a_document_larger_than_a_chunk_has_its_own() -> None:
    leaders = _native.Leaders(1, 0.9, 100)
    sizes = [10, (1 << 20) + 7, 20]
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    flat = np.arange(1, offsets[-1] + 1, dtype=np.uint64)
    leaders.offer(flat, offsets, np.arange(1, 7, dtype=np.uint64), np.arange(3, dtype=np.uint64))
    assert [len(leaders.chunk(i)) for i in range(leaders.chunks)] == sizes
    again = leaders.offer(flat, offsets, np.arange(11, 17, dtype=np.uint64), np.arange(3, dtype=np.uint64))
    assert (list(again[0]), list(again[1])) == ([0, 1, 2], [1.0, 1.0, 1.0])


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2**10) | st.integers(0, 2**64 - 1)), max_size=40), st.integers(0, 6))
def test_simhash_leaders(documents: list[tuple[int, int]], k: int) -> None:
    leaders = _native.SimhashLeaders(64, k)
    digests = np.array([word for digest, _ in documents for word in (digest, 0)], dtype=np.uint64)
    found, similarities = leaders.offer(np.array([value for _, value in documents], dtype=np.uint64), digests)
    decisions = [(None if leader < 0 else leader, similarity) for leader, similarity in zip(found, similarities, strict=True)]
    assert decisions == reference_dedupe.simhash_leaders(documents, k, 64)


def test_simhash_leaders_beyond_the_recent_ones() -> None:
    generator = np.random.default_rng(5)
    values = generator.integers(0, 2**64, 3000, dtype=np.uint64)
    near = values ^ (np.uint64(1) << generator.integers(0, 64, 3000, dtype=np.uint64))
    digests = np.arange(2, 12002, dtype=np.uint64)
    leaders = _native.SimhashLeaders(64, 3)
    found, similarities = leaders.offer(np.concatenate([values, near]), digests)
    assert list(found) == [-1] * 3000 + list(range(3000))
    assert set(similarities[3000:]) == {1 - 1 / 64}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: _native.Leaders(5000, 0.8, 1), "bands"),
        (lambda: _native.Leaders(1, 0.0, 1), "threshold"),
        (lambda: _native.Leaders(1, float("nan"), 1), "threshold"),
        (lambda: _native.Leaders(1, 1.1, 1), "threshold"),
        (lambda: _native.Leaders(1, 0.8, 0), "bucket_limit"),
        (lambda: _native.Leaders(1, 0.8, 1).offer(array("Q"), array("q", (0,)), array("Q", (1,)), array("Q")), "digests"),
        (lambda: _native.Leaders(1, 0.8, 1).offer(array("Q"), array("q", (0, 0)), array("Q", (1, 2)), array("Q")), "keys"),
        (lambda: _native.Leaders(1, 0.8, 1).offer(array("Q"), array("q", (0, 9)), array("Q", (1, 2)), array("Q", (1,))), "offsets"),
        (lambda: _native.SimhashLeaders(64, 17), "k"),
        (lambda: _native.SimhashLeaders(63, 3), "bits"),
        (lambda: _native.SimhashLeaders(64, 3).offer(array("Q", (1,)), array("Q", (1,))), "digests"),
        (lambda: _native.sketch_documents(b"", array("q", (0,)), 0, True, 5, 0, 16, 5, 4, 1), "rows"),
        (lambda: _native.sketch_documents(b"", array("q", (0,)), 0, True, 5, 0, 16, 5000, 1, 1), "bands"),
        (lambda: _native.scan_json_lines(b"{}", []), "columns"),
        (lambda: _native.join_spans(b"abc", array("q", (0,))), "spans"),
        (lambda: _native.join_spans(b"abc", array("q", (0, 4))), "spans"),
        (lambda: _native.join_spans(b"abc", array("q", (2, 1))), "spans"),
    ],
)
def test_wrong_arguments(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_joined_spans() -> None:
    joined, offsets = _native.join_spans(b"abcdef", array("q", (4, 6, -1, -1, 0, 1, 3, 3)))
    assert (bytes(joined), list(offsets)) == (b"efa", [0, 2, 2, 3, 3])


PROBLEMS = ["", "broken", "not an object", "no column", "no text", "wrong type"]
COLUMNS = ["text", "id", "größe"]


def scanned(block: bytes) -> list[tuple[int, str, list[Any]]]:
    found = _native.scan_json_lines(block, COLUMNS)
    rows = []
    for i, line in enumerate(found["lines"]):
        problem = PROBLEMS[found["problems"][i]]
        spans = [found["values"][2 * (i * len(COLUMNS) + c) :][:2] for c in range(len(COLUMNS))]
        values = [json.loads(block[begin:end]) if begin >= 0 else None for begin, end in spans] if problem not in PROBLEMS[1:3] else []
        begin, end = found["text_offsets"][i : i + 2]
        if not problem:
            assert bytes(found["text"][begin:end]) == values[0].encode("utf-8", "surrogatepass")
        else:
            assert begin == end
        assert (found["problem_places"][i] >= 0) == (problem == "broken")
        assert block[found["begins"][i] : found["ends"][i]].strip(b"\r\n") == block.split(b"\n")[line].strip(b"\r\n")
        rows.append((line, problem, values))
    return rows


def test_rows_of_three_byte_characters() -> None:
    """They are checked twelve bytes at a time: whatever byte is wrong anywhere among them is found, and what is rare but right is taken."""
    text = "相似，的文本。的确ࠀ퟿".encode()
    texts = [
        text[:place] + bytes([byte]) + text[place + 1 :] for place in range(len(text)) for byte in b"a\x80\xbf\xc3\xe0\xe4\xed\xef\xf0\xff"
    ]
    assert_only_utf8(texts)


def assert_only_utf8(texts: list[bytes]) -> None:
    """The rows that are taken are those whose texts are UTF-8."""
    found = _native.scan_json_lines(b"".join(b'{"text": "%s"}\n' % each for each in texts), COLUMNS)

    def is_utf8(data: bytes) -> bool:
        try:
            return bool(data.decode())
        except UnicodeDecodeError:
            return False

    assert [not problem for problem in found["problems"]] == [is_utf8(each) for each in texts]
    assert bytes(found["text"]) == b"".join(filter(is_utf8, texts))


def test_rows_of_any_sequences() -> None:
    """Rows are checked 32 bytes at a time: sequences that are right and wrong, at every place of a vector and across two of them."""
    edges = b"\x41\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc2\xdf\xe0\xe1\xec\xed\xee\xef\xf0\xf1\xf3\xf4\xf5\xff"
    pairs = [bytes([first, second]) for first in edges for second in edges]
    sequences = [*pairs, *(pair + tail for pair in pairs for tail in (b"\x80", b"\xbf", b"\x80\x80", b"\xbf\xbf\xbf", b"\xc3"))]
    for place in range(34):
        assert_only_utf8([b"x" * (20 + place) + sequence + b"y" * (place % 5) for sequence in sequences])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4) | st.sampled_from(COLUMNS), inner, max_size=3),
    max_leaves=8,
)
rows_of_json = st.dictionaries(st.sampled_from([*COLUMNS, "other", "te\\xt"]), json_values, max_size=5)


@given(st.lists(st.tuples(rows_of_json, st.booleans(), st.sampled_from(["\n", "\r\n", "\n\n", " \n\t\n"])), max_size=5))
def test_json_rows(rows: list[tuple[dict[str, Any], bool, str]]) -> None:
    block = "".join(json.dumps(row, ensure_ascii=ascii_only) + end for row, ascii_only, end in rows).encode("utf-8", "surrogatepass")
    try:
        block.decode()
    except UnicodeDecodeError:
        return  # a lone surrogate that was not escaped is no UTF-8
    assert scanned(block) == reference_dedupe.json_rows(block, COLUMNS)


@given(st.text(alphabet='{}[]",:\\ute0-9.+-EaNnsl \n\té相\x01', max_size=60).map(str.encode) | st.binary(max_size=40))
@example(b'{"text":"a"} x')
@example(b'{"text":"a",}')
@example(b'{"text":"a" "b"}')
@example(b'{"te\\u0078t":"a","text":"b"}')
@example(b'{"text":"\\ud83d\\ude00 \\ud83d \\udc00\\n\\/"}')
@example(b'{"text":"\xff"}')
@example(b'{"text":"\xed\xa0\x80"}')
@example(b'{"text":"\xf4\x90\x80\x80"}')
@example(b'{"text":"\xe7\x9b"}')
@example(b'{"text":"a\tb"}')
@example(b'{"text":"' + b"a" * 200 + b'"}')
@example(b'{"text":"' + b"a" * 63 + b'\\"}')
@example(b'{"n":01}')
@example(b'{"n":-}')
@example(b'{"n":1.}')
@example(b'{"n":1e}')
@example(b'{"n":-Infinity,"m":NaN}')
@example(b'{"text":"a"')
@example(b'{"text"')
@example(b"[" * 5 + b"]" * 5)
@example(b'{"a":[1,{"b":[]},{"c":{}}],"text":"x"}')
@example(b'{"a":[1,{"b":[}],"text":"x"}')
def test_any_bytes(block: bytes) -> None:
    assert scanned(block) == reference_dedupe.json_rows(block, COLUMNS)


def test_nesting_is_bounded() -> None:
    for depth, problem in ((1000, "no column"), (100_000, "broken")):
        assert scanned(b'{"a":' + b"[" * depth + b"]" * depth + b"}")[0][1:2] == (problem,)
