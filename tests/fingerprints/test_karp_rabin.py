"""Karp-Rabin: published values, the slow reference, both ways of rolling."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference_prints as reference
from lookalike.errors import InputError, RecipeMismatch
from lookalike.fingerprints import karp_rabin as module
from lookalike.fingerprints.base import Fingerprint, pack
from lookalike.fingerprints.karp_rabin import KarpRabin, karp_rabin, karp_rabins, roll, roll_array

PUBLISHED = json.loads((Path(__file__).parents[1] / "golden" / "published.json").read_text(encoding="utf-8"))
NAMES = PUBLISHED["file_names"]

characters = st.characters(exclude_categories=[])  # lone surrogates too
parameters = {
    "window": st.integers(1, 40),
    "base": st.integers(2, 2**31 - 1),
    "prime": st.one_of(st.integers(2, 300), st.integers(2, 2**31 - 1)),
}


@pytest.mark.parametrize("name", "abc")
def test_published_joined_form(name: str) -> None:
    golden = PUBLISHED["karp_rabin"]
    made = karp_rabin(NAMES[name], golden["window"], golden["base"], golden["prime"])
    assert made.joined == golden["joined"][name]
    assert made == karp_rabin(NAMES[name])


def test_published_positional_similarities() -> None:
    prints = [karp_rabin(NAMES[name]) for name in "abc"]
    found = [left.positional_similarity(right) for left, right in combinations(prints, 2)]
    assert found == [0.13636363636363635, 0.18181818181818177, 0.08695652173913049]


def test_the_multiset_sees_what_positions_hide() -> None:
    invoice, other_invoice, curriculum = (karp_rabin(NAMES[name], prime=2**31 - 1) for name in "abc")
    # 9 of the 11 windows of each invoice are the other's: they differ in the first two characters.
    assert invoice.similarity(other_invoice) == 9 / 13
    assert invoice.similarity(curriculum) < 0.2


def test_joined_is_ambiguous() -> None:
    left, right = KarpRabin((1, 23)), KarpRabin((12, 3))
    assert left.joined == right.joined
    assert left.positional_similarity(right) == 1.0
    assert left.similarity(right) == 0.0


def test_positions_and_lengths_mislead() -> None:
    text = "the quick brown fox jumps over the lazy dog"
    whole, moved = karp_rabin(text), karp_rabin("!" + text)
    assert whole.similarity(moved) > 0.9 > 0.5 > whole.positional_similarity(moved)
    first_window = karp_rabin(text[:5])
    assert whole.positional_similarity(first_window) == 1.0  # nothing past the end differs
    assert whole.similarity(first_window) < 0.1


@settings(deadline=None)
@given(st.text(characters, max_size=80), *parameters.values())
def test_reference(text: str, window: int, base: int, prime: int) -> None:
    made = karp_rabin(text, window, base, prime)
    assert list(made.values) == reference.window_hashes([ord(char) for char in text], window, base, prime)
    assert made.joined == "".join(str(value) for value in made.values)


@settings(deadline=None)
@given(st.binary(max_size=80), *parameters.values())
def test_reference_on_bytes(data: bytes, window: int, base: int, prime: int) -> None:
    assert list(karp_rabin(data, window, base, prime).values) == reference.window_hashes(data, window, base, prime)


@settings(deadline=None)
@given(st.lists(st.integers(0, 0x10FFFF), min_size=1, max_size=200), st.integers(1, 200), parameters["base"], parameters["prime"])
def test_both_ways_of_rolling_agree(codes: list[int], window: int, base: int, prime: int) -> None:
    window = min(window, len(codes))
    array = roll_array(np.array(codes, dtype=np.int64), window, base, prime)
    assert array.tolist() == roll(codes, window, base, prime)


@pytest.mark.parametrize("prime", [101, 2**31 - 1])
def test_long_texts_take_the_array_way(prime: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "指纹 fingerprint \U0001f600 \ud800 " * 100
    plain = karp_rabin(text, 7, 2**31 - 1, prime), karp_rabin(text.encode("utf-8", "surrogatepass"), 7, 256, prime)
    monkeypatch.setattr(module, "_VECTORISE_ONE", 1)
    assert (karp_rabin(text, 7, 2**31 - 1, prime), karp_rabin(text.encode("utf-8", "surrogatepass"), 7, 256, prime)) == plain


def test_batches() -> None:
    texts: list[str | bytes] = ["", "a", "指纹" * 1000, b"bytes"]
    assert karp_rabins(texts, 3, 256, 997) == [karp_rabin(text, 3, 256, 997) for text in texts]
    assert karp_rabins(iter(texts[:1])) == [karp_rabin("")]


@settings(deadline=None)
@given(st.text("ab", max_size=30), st.text("ab", max_size=30))
def test_similarity_is_that_of_the_multisets(left: str, right: str) -> None:
    one, other = karp_rabin(left, 3), karp_rabin(right, 3)
    expected = reference.multiset_jaccard(one.values, other.values)
    assert one.similarity(other) == other.similarity(one) == expected
    assert one.distance(other) == 1 - expected


def test_short_and_empty_texts() -> None:
    assert karp_rabin("ab").values == ((ord("a") * 256 + ord("b")) % 101,)
    assert karp_rabin("ab").status is None
    empty = karp_rabin("")
    assert (empty.values, empty.joined, empty.status) == ((), "", "empty: there are no characters to hash")
    assert empty.to_dict()["value"] is None
    assert empty.to_dict()["status"] == empty.status
    assert empty.similarity(karp_rabin("")) == empty.positional_similarity(karp_rabin("")) == 1.0
    assert empty.similarity(karp_rabin("ab")) == empty.positional_similarity(karp_rabin("ab")) == 0.0


def test_recipes_keep_apart() -> None:
    made = karp_rabin("abcdef")
    assert made.recipe == "karp-rabin-5-256-101.1"
    assert karp_rabin(b"abcdef").recipe == "karp-rabin-bytes-5-256-101.1"
    for other in (karp_rabin("abcdef", 4), karp_rabin("abcdef", 5, 257), karp_rabin("abcdef", prime=103), karp_rabin(b"abcdef")):
        for compare in (made.similarity, made.distance, made.positional_similarity):
            with pytest.raises(RecipeMismatch):
                compare(other)
    with pytest.raises(InputError, match="cannot compare a KarpRabin with a NoneType"):
        made.similarity(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["window", "base", "prime"])
@pytest.mark.parametrize("value", [0, -1, 2**31, pytest.param(10**5000, id="huge"), 2.0, "5", None, True, float("nan")])
def test_parameters(name: str, value: object) -> None:
    with pytest.raises(InputError, match=f"karp-rabin {name}.*: give an integer of [12] to 2147483647"):
        karp_rabin("text", **{name: value})  # type: ignore[arg-type]
    with pytest.raises(InputError, match=name):
        karp_rabins([], **{name: value})  # type: ignore[arg-type]


def test_the_modulus_need_not_be_a_prime() -> None:
    assert karp_rabin("abc", 2, 10, 100).values == ((97 * 10 + 98) % 100, (98 * 10 + 99) % 100)


@pytest.mark.parametrize("text", [None, 3, ["a"], bytearray(b"a")])
def test_other_types(text: object) -> None:
    with pytest.raises(InputError, match="give a str or bytes"):
        karp_rabin(text)  # type: ignore[arg-type]


@pytest.mark.parametrize("texts", ["abc", b"abc", None, 3])
def test_batches_want_a_list(texts: object) -> None:
    with pytest.raises(InputError, match="give a list"):
        karp_rabins(texts)  # type: ignore[arg-type]


@settings(deadline=None)
@given(st.one_of(st.text(characters, max_size=20), st.binary(max_size=20)), *parameters.values())
def test_round_trips(text: str | bytes, window: int, base: int, prime: int) -> None:
    made = karp_rabin(text, window, base, prime)
    assert isinstance(made, Fingerprint)
    assert KarpRabin.from_dict(json.loads(json.dumps(made.to_dict()))) == made
    assert KarpRabin.from_bytes(made.to_bytes()) == made


@pytest.mark.parametrize(
    "change",
    [
        {"values": None},
        {"values": [1, "2"]},
        {"values": [1, True]},
        {"values": [101]},
        {"values": [-1]},
        {"values": [1]},
        {"value": "1"},
        {"window": 6},
        {"unit": "bytes"},
        {"recipe": None},
        {"recipe": "karp-rabin-5-256-101.2"},
        {"recipe": "karp-rabin-05-256-101.1"},
        {"recipe": "karp-rabin-0-256-101.1"},
        {"recipe": "karp-rabin-5-256-9999999999.1"},
        {"recipe": "karp-rabin-\u0665-256-101.1"},
    ],
)
def test_broken_dictionaries(change: dict[str, object]) -> None:
    with pytest.raises(InputError, match="karp-rabin"):
        KarpRabin.from_dict({**karp_rabin("fingerprint").to_dict(), **change})


def test_broken_bytes() -> None:
    data = karp_rabin("fingerprint").to_bytes()
    for hostile in (b"", data[:-1], data[:8], b"XX" + data[2:], pack("digest", "digest-md5.1", b""), data[:-4] + b"\xff" * 4):
        with pytest.raises(InputError):
            KarpRabin.from_bytes(hostile)


def test_direct_construction_is_checked() -> None:
    with pytest.raises(InputError, match="unit='words'"):
        KarpRabin((1,), unit="words")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="a tuple of integers"):
        KarpRabin([1])  # type: ignore[arg-type]
