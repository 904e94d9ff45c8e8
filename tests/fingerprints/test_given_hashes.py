"""SimHashes of given hashes and of one's own hash function; the published worked examples."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
import reference

PUBLISHED = json.loads((Path(__file__).parent.parent / "golden" / "published.json").read_text(encoding="utf-8"))
SHORT = json.loads((Path(__file__).parent.parent / "golden" / "published_short_texts.json").read_text(encoding="utf-8"))


def fnv1a(data: bytes) -> int:
    """FNV-1a of 32 bits (Fowler, Noll, Vo)."""
    value = 2166136261
    for byte in data:
        value = (value ^ byte) * 16777619 % 2**32
    return value


def test_the_published_worked_example_of_8_bits() -> None:
    example = PUBLISHED["simhash_8_worked_example"]
    found = la.simhash(hashes=[int(bits, 2) for bits in example["hashes"]], weights=example["weights"], bits=8)
    assert f"{int(found):08b}" == example["fingerprint"]
    assert found.hex == "0x4b"
    assert found.recipe == "simhash-8/hashes.1"


def test_the_published_12_of_32_bits_of_two_short_texts() -> None:
    """Keywords of two letters and more with their TF-IDF by jieba, hashed by FNV-1a; the bits are printed from the highest on."""
    found = []
    for text, bits in SHORT["fingerprints"].items():
        keywords = {each.word: each.weight for each in la.keywords(text, min_length=2)}
        found.append(la.simhash(keywords, hash=fnv1a, bits=32))
        assert f"{int(found[-1]):032b}" == bits
    assert found[0].distance(found[1]) == SHORT["distance"] == 12


@given(
    st.integers(1, 200).flatmap(lambda bits: st.tuples(st.just(bits), st.lists(st.tuples(st.integers(0, 2**bits - 1), st.floats(-9, 9)))))
)
def test_any_number_of_bits_is_the_sum_of_signed_weights(case: tuple[int, list[tuple[int, float]]]) -> None:
    bits, pairs = case
    sums = [0.0] * bits
    for value, weight in sorted(pairs):
        for bit in range(bits):
            sums[bit] += weight if value >> bit & 1 else -weight
    found = la.simhash(hashes=[value for value, _ in pairs], weights=[weight for _, weight in pairs], bits=bits)
    assert int(found) == sum(1 << bit for bit in range(bits) if sums[bit] > 0)
    for again in (la.SimHash.from_bytes(found.to_bytes()), la.SimHash.from_dict(found.to_dict())):
        assert again == found


def test_our_own_hash_given_as_hashes_gives_the_same_bits() -> None:
    shingles = reference.text_shingles("the quick brown fox jumps over the lazy dog again", "auto", 5)
    assert int(la.simhash(hashes=shingles)) == int(la.simhash("the quick brown fox jumps over the lazy dog again"))


def test_ones_own_hash_function() -> None:
    one = la.simhash(["apple", "banana"], hash=zlib.crc32, bits=32)
    assert int(one) == int(la.simhash(hashes=[zlib.crc32(b"apple"), zlib.crc32(b"banana")], bits=32))
    assert int(la.simhash("some text of a few words", hash=zlib.crc32, bits=12, recipe="words")) < 2**12
    with pytest.raises(la.RecipeMismatch):
        one.distance(la.simhash(["apple"], hash=fnv1a, bits=32))
    with pytest.raises(la.RecipeMismatch):
        one.distance(la.simhash(["apple"], hash=lambda data: 7, bits=32))


def test_misuse_is_explained() -> None:
    with pytest.raises(la.InputError, match=r"hashes\[1\] is 256: expected an integer of 8 bits"):
        la.simhash(hashes=[1, 256], bits=8)
    with pytest.raises(la.InputError, match="1 weights for 2 hashes"):
        la.simhash(hashes=[1, 2], weights=[1])
    with pytest.raises(la.InputError, match=r"weights\[0\] is nan"):
        la.simhash(hashes=[1], weights=[float("nan")])
    with pytest.raises(la.InputError, match="leave out text"):
        la.simhash("text", hashes=[1])
    with pytest.raises(la.InputError, match="belongs to hashes="):
        la.simhash("text", weights=[1])
    with pytest.raises(la.InputError, match="nothing to make"):
        la.simhash()
    with pytest.raises(la.InputError, match="bits=0"):
        la.simhash(hashes=[], bits=0)
    with pytest.raises(la.InputError, match="bits=33"):
        la.simhash("text", bits=33)
    with pytest.raises(la.InputError, match="hash gave 'x'"):
        la.simhash("text", hash=lambda data: "x")  # type: ignore[arg-type, return-value]
    with pytest.raises(la.InputError, match="give a function"):
        la.simhash("text", hash=3)  # type: ignore[arg-type]
    assert int(la.simhash(hashes=[])) == 0
    assert int(la.simhash(hashes=[-1], bits=8)) == 255


def test_the_recipe_id_of_a_function_is_the_same_in_every_process(tmp_path: Path) -> None:
    """Also where it holds functions of its own, and sets: their addresses and their order differ."""
    (tmp_path / "own.py").write_text(
        "def own(data):\n    inner = lambda byte: byte + 1\n"
        "    return sum(inner(byte) for byte in data if byte not in {1, 2, 'a', 'b', 'c'} and [each for each in data])\n"
    )
    shown = "import lookalike as la, own, sys; junk = ['x'] * int(sys.argv[1]); print(la.simhash(['a', 'b'], hash=own.own, bits=8).recipe)"
    found = {
        subprocess.run(
            [sys.executable, "-c", shown, str(10**seed)],
            env=os.environ | {"PYTHONHASHSEED": str(seed), "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(1, 5)
    }
    assert len(found) == 1
