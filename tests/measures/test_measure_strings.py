"""Hamming and the edit measures: golden values, slow references, RapidFuzz and difflib, limits, hostile input."""

from __future__ import annotations

import difflib as standard
import math
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz import fuzz

import reference_measures as reference
from lookalike.errors import InputError, RecipeMismatch
from lookalike.measures import Measure, difflib, hamming, hamming_with, indel, levenshtein, ratio, strings
from lookalike.recipe import require_same

EDIT_MEASURES = [levenshtein, indel, ratio, difflib]
every_edit_measure = pytest.mark.parametrize("measure", EDIT_MEASURES, ids=lambda m: m.name)
every_fast_measure = pytest.mark.parametrize("measure", [levenshtein, indel, ratio], ids=lambda m: m.name)

letters = st.text("ab\0\ud800中", max_size=12)
token_lists = st.lists(st.sampled_from(["a", "b", "ab", "b a", "", 97, 98, -1, -2]), max_size=10)
either = letters | token_lists | st.binary(max_size=8)
pairs = st.tuples(letters, letters) | st.tuples(token_lists, token_lists) | st.tuples(st.binary(max_size=8), st.binary(max_size=8))
words = st.integers(0, 2**64 - 1)


class Bits:
    """A stand-in for a fingerprint of bits and the recipe that it was made by."""

    kind: ClassVar[str] = "simhash"

    def __init__(self, value: int, recipe: str = "one") -> None:
        self.value, self.recipe = value, recipe

    def distance(self, other: Bits) -> int:
        require_same(self.recipe, other.recipe)
        return (self.value ^ other.value).bit_count()

    def similarity(self, other: Bits) -> float:
        return 1 - self.distance(other) / 32

    def to_dict(self) -> dict[str, Any]:
        return {}


class Sketch(Bits):
    kind: ClassVar[str] = "minhash"


class TestHammingOfAPair:
    @pytest.mark.parametrize(("a", "b", "distance"), [("0110", "1110", 1), ("0100", "1001", 3), ("10101", "00110", 3)])
    def test_published(self, a: str, b: str, distance: int) -> None:
        assert hamming.distance(a, b) == distance
        assert hamming.distance(int(a, 2), int(b, 2)) == distance
        assert hamming.distance(list(a), tuple(b)) == distance
        assert hamming.distance(a.encode(), bytearray(b.encode())) == distance
        assert hamming.similarity(a, b) == 1 - distance / len(a)
        assert hamming_with(bits=len(a)).similarity(int(a, 2), int(b, 2)) == 1 - distance / len(a)

    def test_published_simhash(self) -> None:
        a, b, c = 0xA7F48284B51A46BD, 0x8FF48280B57A47BE, 0x663F036B9EB10AB7
        assert [hamming.similarity(x, y) for x, y in ((a, b), (a, c), (b, c))] == [0.875, 0.515625, 0.484375]

    @given(a=st.integers(0, 2**200), b=st.integers(0, 2**200))
    def test_ints_of_any_size(self, a: int, b: int) -> None:
        assert hamming.distance(a, b) == reference.bits_that_differ(a, b)
        assert hamming_with(bits=256).similarity(a, b) == 1 - reference.bits_that_differ(a, b) / 256

    @given(pair=st.integers(0, 8).flatmap(lambda n: st.tuples(*[st.text(min_size=n, max_size=n)] * 2)))
    def test_strings(self, pair: tuple[str, str]) -> None:
        a, b = pair
        assert hamming.distance(a, b) == len([i for i in range(len(a)) if a[i] != b[i]]) == hamming.distance(b, a)
        assert hamming.distance(np.array([ord(c) for c in a]), [ord(c) for c in b]) == hamming.distance(a, b)

    @given(a=words, b=words, c=words)
    def test_metric(self, a: int, b: int, c: int) -> None:
        assert hamming.distance(a, c) <= hamming.distance(a, b) + hamming.distance(b, c)
        assert hamming.distance(a, a) == 0
        assert hamming.similarity(a, a) == 1

    def test_empty_sequences_are_identical(self) -> None:
        empty: Any
        for empty in ("", b"", [], np.array([])):
            assert hamming.distance(empty, empty) == 0
            assert hamming.similarity(empty, empty) == 1

    def test_numpy_ints(self) -> None:
        assert hamming.distance(np.uint64(2**64 - 1), 0) == 64

    def test_the_width_has_a_part_in_the_similarity_alone(self) -> None:
        assert hamming.distance(2**64, 0) == 1
        with pytest.raises(InputError, match=r"more than 64 bits: use hamming_with\(bits=65\)"):
            hamming.similarity(2**64, 0)
        with pytest.raises(InputError, match=r"more than 8 bits"):
            hamming_with(bits=8).similarities([1], [256])

    @pytest.mark.parametrize("bits", [0, -1, 1.5, None, True, "64"])
    def test_bad_width(self, bits: Any) -> None:
        with pytest.raises(InputError, match="bits="):
            hamming_with(bits=bits)


class TestHammingOfFingerprints:
    def test_it_asks_the_fingerprints(self) -> None:
        assert hamming.distance(Bits(7), Bits(4)) == 2
        assert hamming.similarity(Bits(7), Bits(3)) == 1 - 1 / 32
        assert hamming.pairwise([Bits(1), Bits(2)]).tolist() == [[0, 2], [2, 0]]

    def test_other_recipe(self) -> None:
        with pytest.raises(RecipeMismatch, match="one and two"):
            hamming.distance(Bits(1), Bits(1, "two"))

    def test_other_kinds(self) -> None:
        with pytest.raises(InputError, match="a minhash fingerprint has no hamming distance"):
            hamming.distance(Sketch(1), Sketch(1))

    def test_a_fingerprint_and_an_int(self) -> None:
        for a, b in ((Bits(1), 1), (1, Bits(1)), (Bits(1), "1")):
            with pytest.raises(InputError, match="two of one kind"):
                hamming.distance(a, b)


class TestHammingOfBatches:
    @given(a=st.lists(words, max_size=5), b=st.lists(words, max_size=5))
    def test_ints(self, a: list[int], b: list[int]) -> None:
        wanted = [[reference.bits_that_differ(x, y) for y in b] for x in a]
        for left, right in ((a, b), (np.array(a, dtype=np.uint64), np.array(b, dtype=np.uint64))):
            matrix = hamming.pairwise(left, right)
            assert matrix.tolist() == wanted
            assert matrix.shape == (len(a), len(b))
        shorter = min(len(a), len(b))
        assert hamming.distances(a[:shorter], b[:shorter]).tolist() == [wanted[i][i] for i in range(shorter)]
        assert hamming.similarities(a[:shorter], b[:shorter]).tolist() == [hamming.similarity(a[i], b[i]) for i in range(shorter)]

    def test_without_the_function_of_numpy_2(self, monkeypatch: pytest.MonkeyPatch) -> None:
        values = np.random.default_rng(3).integers(0, 2**63, size=50, dtype=np.uint64)
        wanted = hamming.pairwise(values)
        monkeypatch.delattr(np, "bitwise_count", raising=False)
        assert (hamming.pairwise(values) == wanted).all()
        assert (hamming.distances(values[::2], values[1::2]) == wanted[::2, 1::2].diagonal()).all()

    def test_signed_and_narrow_arrays(self) -> None:
        assert hamming.pairwise(np.array([1, 2], dtype=np.int32), np.array([255], dtype=np.uint8)).tolist() == [[7], [7]]
        assert hamming.pairwise(np.array([1]), np.array([-1])).tolist() == [[63]]

    @pytest.mark.parametrize("bits", [8, 64, 100])
    def test_a_negative_number_is_the_pattern_of_its_bits(self, bits: int) -> None:
        measure = hamming_with(bits=bits)
        assert measure.distance(-5, 3) == measure.distance(2**bits - 5, 3) == bits - 3
        assert measure.similarity(-1, 0) == 0
        for batch in ([-5, 3, -1], np.array([-5, 3, -1])):
            unsigned = [2**bits - 5, 3, 2**bits - 1]
            assert measure.pairwise(batch).tolist() == [[measure.distance(a, b) for b in unsigned] for a in unsigned]
            assert measure.distances(batch, batch[::-1]).tolist() == [
                measure.distance(*pair) for pair in zip(batch, batch[::-1], strict=True)
            ]
        with pytest.raises(InputError, match=f"integer of {bits} bits, signed or unsigned"):
            measure.distance(-(2 ** (bits - 1)) - 1, 0)

    def test_ints_beyond_64_bits(self) -> None:
        assert hamming.pairwise([2**100, 1]).tolist() == [[0, 2], [2, 0]]

    @pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int64, np.float64, "U1"])
    def test_rows_of_an_array_are_sequences(self, dtype: str) -> None:
        rows = np.array([[1, 0, 1], [0, 0, 1], [0, 1, 0]]).astype(dtype)
        assert hamming.pairwise(rows).tolist() == [[0, 1, 3], [1, 0, 2], [3, 2, 0]]
        assert hamming.similarities(rows, rows[::-1]).tolist() == [0, 1, 0]

    def test_strings(self) -> None:
        assert hamming.pairwise(["abc", "abd"], ["xbc"]).tolist() == [[1], [2]]

    def test_rows_of_different_types_stay_exact(self) -> None:
        a, b = np.array([[2**63 - 1]], dtype=np.int64), np.array([[2**63]], dtype=np.uint64)
        assert hamming.distances(a, b).tolist() == [1]

    def test_empty_rows_are_identical(self) -> None:
        assert hamming.pairwise_similarity(np.empty((2, 0), dtype=np.uint8)).tolist() == [[1, 1], [1, 1]]


class TestHostileHamming:
    @pytest.mark.parametrize(("a", "b"), [("ab", "abc"), ([1], [1, 2]), (b"a", b"")])
    def test_lengths(self, a: object, b: object) -> None:
        with pytest.raises(InputError, match=r"positions.*levenshtein"):
            hamming.distance(a, b)
        with pytest.raises(InputError, match=r"positions.*levenshtein"):
            hamming.similarities([a], [b])

    def test_widths_of_arrays(self) -> None:
        with pytest.raises(InputError, match="a has 2 positions and b has 3"):
            hamming.pairwise(np.ones((1, 2), dtype=int), np.ones((1, 3), dtype=int))

    @pytest.mark.parametrize(("a", "b"), [("1", 1), ("1", b"1"), ("1", ["1"]), (1, [1])])
    def test_kinds(self, a: object, b: object) -> None:
        with pytest.raises(InputError, match="kind"):
            hamming.distance(a, b)

    @pytest.mark.parametrize(
        "thing", [-(2**63) - 1, -(10**5000), True, None, 1.5, {1}, {"a": 1}, object(), [math.nan], [np.array([1, 2])]], ids=type
    )
    def test_bad_things(self, thing: object) -> None:
        with pytest.raises(InputError, match=r"^a[ =]"):
            hamming.distance(thing, thing)


class TestEditsAgainstTheReference:
    @given(pair=pairs)
    def test_levenshtein(self, pair: tuple[Any, Any]) -> None:
        a, b = pair
        distance = reference.edits(a, b, substitution=1)
        assert levenshtein.distance(a, b) == distance
        assert levenshtein.similarity(a, b) == 1 - distance / (max(len(a), len(b)) or 1)

    @given(pair=pairs)
    def test_indel_and_ratio(self, pair: tuple[Any, Any]) -> None:
        a, b = pair
        distance = reference.edits(a, b, substitution=2)
        assert indel.distance(a, b) == distance
        assert indel.similarity(a, b) == ratio.similarity(a, b) == 1 - distance / ((len(a) + len(b)) or 1)
        assert ratio.distance(a, b) == pytest.approx(1 - ratio.similarity(a, b), abs=1e-15)

    @given(a=letters, b=letters)
    def test_ratio_is_the_one_of_rapidfuzz(self, a: str, b: str) -> None:
        assert ratio.similarity(a, b) == pytest.approx(fuzz.ratio(a, b) / 100, abs=1e-15)

    @given(pair=pairs)
    def test_difflib(self, pair: tuple[Any, Any]) -> None:
        a, b = pair
        assert difflib.similarity(a, b) == standard.SequenceMatcher(None, a, b).ratio()
        assert difflib.distance(a, b) == 1 - difflib.similarity(a, b)

    @given(a=st.text("abcdefghij", min_size=190, max_size=260), b=st.text("abcdefghijk", min_size=190, max_size=260))
    @settings(max_examples=20)
    def test_difflib_with_its_junk_heuristic(self, a: str, b: str) -> None:
        assert difflib.similarity(a, b) == standard.SequenceMatcher(None, a, b).ratio()

    @every_fast_measure
    @given(triple=st.tuples(letters, letters, letters) | st.tuples(token_lists, token_lists, token_lists))
    def test_properties(self, measure: Measure, triple: tuple[Any, Any, Any]) -> None:
        a, b, c = triple
        assert measure.distance(a, b) == measure.distance(b, a)
        assert measure.distance(a, a) == 0
        assert measure.similarity(a, a) == 1
        assert 0 <= measure.similarity(a, b) <= 1
        if measure is not ratio:
            assert measure.distance(a, c) <= measure.distance(a, b) + measure.distance(b, c)

    @every_edit_measure
    @given(batch=st.lists(letters, max_size=4) | st.lists(token_lists, max_size=4), data=st.data())
    @settings(max_examples=40)
    def test_batches(self, measure: Measure, batch: list[Any], data: st.DataObject) -> None:
        other = data.draw(st.permutations(batch))
        assert measure.distances(batch, other).tolist() == [measure.distance(a, b) for a, b in zip(batch, other, strict=True)]
        assert measure.similarities(batch, other).tolist() == [measure.similarity(a, b) for a, b in zip(batch, other, strict=True)]
        assert measure.pairwise(batch, other).tolist() == [[measure.distance(a, b) for b in other] for a in batch]
        matrix = measure.pairwise_similarity(batch)
        assert matrix.tolist() == [[measure.similarity(a, b) for b in batch] for a in batch]
        assert matrix.dtype == np.float64
        assert matrix.shape == (len(batch), len(batch))

    @every_edit_measure
    def test_a_column_of_numpy_strings(self, measure: Measure) -> None:
        assert measure.distances(np.array(["abc", "x"]), ["abd", "x"]).tolist() == [measure.distance("abc", "abd"), 0]

    @every_edit_measure
    def test_tokens_are_compared_whole(self, measure: Measure) -> None:
        # RapidFuzz itself takes a one-letter token for its code point.
        assert measure.similarity(["a"], [97]) == 0
        assert measure.similarities([["a"]], [[97]]).tolist() == [0]
        assert measure.similarity(["ab", "c"], ["a", "bc"]) == 0


class TestLimits:
    def test_long_strings_take_the_bands(self, monkeypatch: pytest.MonkeyPatch) -> None:
        random = np.random.default_rng(4)
        a = "".join(random.choice(list("abcd"), size=2_000))
        near = a[:700] + "x" + a[701:1500] + "yy" + a[1500:]
        far = "".join(random.choice(list("abcd"), size=1_500))
        for measure in (levenshtein, indel):
            wanted = [measure.distance(a, b) for b in (near, far)]
            with monkeypatch.context() as patch:
                patch.setattr(strings, "DIRECT_WORDS", 10)
                assert [measure.distance(a, b) for b in (near, far)] == wanted
                assert measure.distances([a, a], [near, far]).tolist() == wanted

    def test_levenshtein_and_indel_stop(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(strings, "DIRECT_WORDS", 10)
        monkeypatch.setattr(strings, "MAX_WORDS", 10_000)
        a, b = "ab" * 1_000, "cd" * 1_000
        for measure in (levenshtein, indel, ratio):
            with pytest.raises(InputError, match=r"2000 and 2000 .* more than 64 edits, .* limit of 10000 steps"):
                measure.similarity(a, b)
            with pytest.raises(InputError, match="limit"):
                measure.pairwise([a], [b])
            assert measure.similarity(a, a) == 1
            assert measure.similarity(a, a[:-1] + "x") > 0.99

    def test_ten_megabytes_are_refused_or_answered(self) -> None:
        a = "abcdefghij" * 1_000_000
        assert levenshtein.distance(a, a[:5_000_000] + "x" + a[5_000_000:]) == 1

    def test_difflib_stops(self, monkeypatch: pytest.MonkeyPatch) -> None:
        a, b = "ab" * 90, "ba" * 90
        assert difflib.similarity(a, b) == standard.SequenceMatcher(None, a, b).ratio()
        monkeypatch.setattr(strings, "MAX_STEPS", 1_000)
        with pytest.raises(InputError, match=r"more than 1000 steps .* 180 and 180 items: use ratio"):
            difflib.similarity(a, b)
        with pytest.raises(InputError, match="use ratio"):
            difflib.pairwise([a], [b])

    def test_difflib_stops_within_a_long_chain_of_matches(self, monkeypatch: pytest.MonkeyPatch) -> None:
        a = [x for i in range(50) for x in (f"{i}", f"left {i}")]
        b = [x for i in range(50) for x in (f"{i}", f"right {i}")]
        assert difflib.similarity(a, b) == 0.5
        monkeypatch.setattr(strings, "MAX_STEPS", 1_000)  # a single pass takes 150
        with pytest.raises(InputError, match="use ratio"):
            difflib.similarity(a, b)

    def test_two_megabytes_of_difflib(self) -> None:
        text = "".join(chr(0x4E00 + i % 5_000) for i in range(999_999))
        with pytest.raises(InputError, match="use ratio"):
            difflib.similarity(text, text[::-1])
        with pytest.raises(InputError, match="takes 2000000 characters"):
            difflib.similarity(text, text + text)


@every_edit_measure
class TestHostileEdits:
    @pytest.mark.parametrize("thing", [None, 3, {1}, {"a": 1}, object(), [["unhashable"]], [math.nan], np.ones((2, 2))], ids=type)
    def test_bad_things(self, measure: Measure, thing: object) -> None:
        with pytest.raises(InputError, match=r"^b"):
            measure.distance("a", thing)
        with pytest.raises(InputError, match=r"^b\[0\]"):
            measure.pairwise(["a"], [thing])

    @pytest.mark.parametrize("other", [b"a", ["a"]])
    def test_kinds_do_not_mix(self, measure: Measure, other: object) -> None:
        with pytest.raises(InputError, match="different kinds"):
            measure.distance("a", other)
        with pytest.raises(InputError, match="different kinds"):
            measure.pairwise(["a"], [other])

    def test_a_string_is_not_a_batch(self, measure: Measure) -> None:
        with pytest.raises(InputError, match="not a batch"):
            measure.pairwise("text")

    def test_empty(self, measure: Measure) -> None:
        assert measure.similarity("", "") == 1
        assert measure.similarity("", "a") == 0
        assert measure.pairwise([], ["a"]).shape == (0, 1)
