"""ssdeep and TLSH: equal to the reference tools, whatever way the bytes come in."""

from __future__ import annotations

import functools
import hashlib
import itertools
import random
import sys
import threading
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import reference_fuzzy as reference
from lookalike import _native, io
from lookalike.errors import InputError, RecipeMismatch
from lookalike.fingerprints import fuzzy
from lookalike.fingerprints.base import Fingerprint, pack
from lookalike.fingerprints.fuzzy_ssdeep import Ssdeep, ssdeep, ssdeeps
from lookalike.fingerprints.fuzzy_tlsh import Tlsh, tlsh, tlshs
from stable import stable_id

MANY = settings(max_examples=150, deadline=None)


@functools.cache
def noise(size: int) -> bytes:
    blocks = (hashlib.sha256(str(number).encode()).digest() for number in range(size // 32 + 1))
    return b"".join(blocks)[:size]


# Written by libfuzzy 2 (pydeep2 0.5.1) and by the tlsh library (py-tlsh 5.0.0).
GOLDEN: list[tuple[bytes, str, str | None]] = [
    (b"a", "3:E:E", None),
    (bytes(100), "3::", None),
    (b"a" * 100_000, "3:tjV:H", None),
    (b"The quick brown fox jumps over the lazy dog", "3:FJKKIUKact:FHIGi", None),
    (
        b"The quick brown fox jumps over the lazy dog. " * 40,
        "12:Fg66666666666666666666666666666666666666G:F1",
        "T1A231024A311C1794658A1888438D95B2D2C9C910612114116570604219482359CD8551",
    ),
    (
        bytes(range(256)) * 64,
        "192:znnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnb:n",
        "T1F6729524E6514D7D1F175ADCD04E44DF554FCDE302C5002517F186D1C510294440ED1D",
    ),
    (
        noise(50),
        "3:iOh+3LxU+rfu+OjDZ4r0aOn:iOh+3dlsjFma",
        "T19E900210543441AD5150465E48F9691CC881051D9D9496982966004492A450A4595825",
    ),
    (
        noise(5_000) + bytes(7),
        "96:QRpfmMBBbO/6+4mxfADekszIViYT/+ImWJZ02z7GERy7fP3nlj:QR5v46+ftzkszIVlmW82ziEEHn",
        "T14BA19F9CAC37C44553C4D5877DC2214EF84479219BEFEA04AA870D937A874772A20D88",
    ),
    (
        noise(100_000),
        "3072:8/QDnDWlDuH7amNyrZapiZYCferX+inA8cM2k:84nDWwWHrOnrX5nDchk",
        "T14FA312504A1AC115DBD06B41299C258254C94EE822B7F6007EBDDFE35ADC8BFA732CCE",
    ),
    (
        noise(3_000_000),
        "49152:DWiAHg/1M1/NyeVkSc7C4JAa8Oas8GJ796EAFPXya9AVb3lsHhcPLBXjeDgC:ea1iXVkZHJEOaeJ74EAFPXya9AVpsBcO",
        "T17CD5330AE35983365E919EE23789C367F90E58F7ED92143C8D86CAF24A2D4725807FC5",
    ),
]


@pytest.fixture(scope="module")
def libfuzzy() -> Any:
    if sys.version_info >= (3, 12):
        pytest.skip("pydeep2 has no wheels for Python 3.12 and up: ppdeep and the golden values stand in")
    return pytest.importorskip("pydeep")


@pytest.fixture(scope="module")
def ppdeep() -> Any:
    return pytest.importorskip("ppdeep")


@pytest.fixture(scope="module")
def libtlsh() -> Any:
    return pytest.importorskip("tlsh")


def tlsh_text(data: bytes) -> str:
    return tlsh(data).value or "TNULL"


# Digests equal the reference.


@pytest.mark.parametrize(
    ("data", "ssdeep_value", "tlsh_value"), GOLDEN, ids=lambda value: str(len(value)) if isinstance(value, bytes) else ""
)
def test_golden_values(data: bytes, ssdeep_value: str, tlsh_value: str | None) -> None:
    assert ssdeep(data).value == ssdeep_value
    assert tlsh(data).value == tlsh_value


def test_ssdeep_equals_libfuzzy(libfuzzy: Any) -> None:
    for data in reference.inputs(seed=1, count=4_000, largest=1 << 16):
        assert _native.ssdeep_hash(data) == libfuzzy.hash_buf(data).decode(), f"{len(data)} bytes {data[:40]!r}"


def test_ssdeep_of_large_inputs_equals_libfuzzy(libfuzzy: Any) -> None:
    rng = random.Random(2)
    large = rng.randbytes(40_000_000)  # beyond level 16, cuts are filtered differently
    for data in (large, reference.text(rng, 3_500_000), bytes(4_000_000) + noise(2_000), b"ab" * 2_000_000, noise(9_000) * 400):
        assert _native.ssdeep_hash(data) == libfuzzy.hash_buf(data).decode()


def test_ssdeep_equals_ppdeep(ppdeep: Any) -> None:
    for data in reference.inputs(seed=3, count=300, largest=1 << 12):
        assert _native.ssdeep_hash(data) == ppdeep.hash(data), f"{len(data)} bytes {data[:40]!r}"


@given(st.binary(max_size=2_000) | st.builds(lambda unit, times: unit * times, st.binary(min_size=1, max_size=9), st.integers(0, 700)))
@example(b"\0" * 7)
@MANY
def test_ssdeep_of_any_bytes_equals_ppdeep(ppdeep: Any, data: bytes) -> None:
    assert _native.ssdeep_hash(data) == ppdeep.hash(data)


def test_tlsh_equals_the_library(libtlsh: Any) -> None:
    for data in reference.inputs(seed=4, count=4_000, largest=1 << 16):
        assert tlsh_text(data) == libtlsh.hash(data), f"{len(data)} bytes {data[:40]!r}"


def test_tlsh_of_large_inputs_equals_the_library(libtlsh: Any) -> None:
    rng = random.Random(5)
    for data in (noise(6_000_000), reference.text(rng, 4_000_000), noise(300) * 20_000, bytes(3_000_000) + noise(2_000)):
        assert tlsh_text(data) == libtlsh.hash(data)


def test_length_codes_of_tlsh(libtlsh: Any) -> None:
    data = noise(1_100_000)
    boundaries = [57, 86, 129, 194, 291, 437, 656, 854, 1_110, 1_443, 1_876, 2_439, 3_171, 3_475, 9_014, 23_382, 97_672, 337_191, 1_058_252]
    for last in boundaries:  # the last length of a code
        before, after = tlsh_text(data[:last]), tlsh_text(data[: last + 1])
        assert before[4:6] != after[4:6]
        assert before == libtlsh.hash(data[:last])
        assert after == libtlsh.hash(data[: last + 1])


@given(st.binary(max_size=3_000) | st.builds(lambda unit, times: unit * times, st.binary(min_size=1, max_size=90), st.integers(0, 60)))
@example(noise(49))
@MANY
def test_tlsh_of_any_bytes_equals_the_library(libtlsh: Any, data: bytes) -> None:
    assert tlsh_text(data) == libtlsh.hash(data)


# Scores and distances equal the reference.


def test_reference_score_equals_libfuzzy(libfuzzy: Any) -> None:
    for left, right in reference.ssdeep_digests(seed=6, count=800):
        assert reference.ssdeep_score(left, right) == libfuzzy.compare(left.encode(), right.encode()), (left, right)


def test_scores_equal_the_reference() -> None:
    seen = set()
    for left, right in reference.ssdeep_digests(seed=7, count=1_500):
        score = _native.ssdeep_score(left, right)
        assert score == reference.ssdeep_score(left, right), (left, right)
        assert score == _native.ssdeep_score(right, left)
        seen.add(score)
    assert len(seen) > 50


def test_scores_equal_libfuzzy(libfuzzy: Any) -> None:
    for left, right in reference.ssdeep_digests(seed=8, count=15_000):
        assert _native.ssdeep_score(left, right) == libfuzzy.compare(left.encode(), right.encode()), (left, right)


def test_scores_of_edited_inputs_equal_libfuzzy(libfuzzy: Any) -> None:
    rng = random.Random(9)
    seen = set()
    for data in reference.inputs(seed=10, count=1_500, largest=1 << 15):
        left, right = ssdeep(data + b"."), ssdeep(reference.edited(rng, data) + b".")
        expected = libfuzzy.compare(str(left.value).encode(), str(right.value).encode())
        assert left.similarity(right) == expected / 100
        assert left.distance(right) == 100 - expected
        seen.add(expected)
    assert len(seen) > 20


def test_tlsh_distances_equal_the_library(libtlsh: Any) -> None:
    rng = random.Random(11)
    for _ in range(10_000):
        left = rng.randbytes(35)
        right = bytes(byte if rng.random() < 0.7 else rng.randrange(256) for byte in left)
        one, other = Tlsh("T1" + left.hex().upper()), Tlsh("T1" + right.hex().upper())
        assert one.distance(other) == libtlsh.diff(one.value, other.value)
        assert one.distance(other, with_length=False) == libtlsh.diffxlen(one.value, other.value)


def test_tlsh_distances_of_edited_inputs_equal_the_library(libtlsh: Any) -> None:
    rng = random.Random(12)
    seen = set()
    for data in reference.inputs(seed=13, count=1_500, largest=1 << 14):
        left, right = tlsh(data), tlsh(reference.edited(rng, data))
        if left.value is None or right.value is None:
            continue
        expected = libtlsh.diff(left.value, right.value)
        assert left.distance(right) == right.distance(left) == expected
        assert left.similarity(right) == max(0.0, 1 - expected / 300)
        seen.add(expected)
    assert len(seen) > 50


def test_similarity_of_far_tlsh_digests_is_zero() -> None:
    near, far = Tlsh("T1" + "00" * 35), Tlsh("T1" + "FF" * 35)
    assert near.distance(far) > 300
    assert near.similarity(far) == 0.0
    assert near.similarity(near) == 1.0


# However the bytes come in, the digest is the same.


@given(st.integers(0, 2**32), st.lists(st.integers(1, 4_000), max_size=12))
@example(0, [1] * 12)
@MANY
def test_streaming_equals_one_call(seed: int, portions: list[int]) -> None:
    data = reference.an_input(random.Random(seed), 1 << 15)
    states = _native.SsdeepState(), _native.TlshState()
    for state in states:
        at = 0
        for portion in portions:
            state.update(data[at : at + portion])
            state.digest()  # looking at a state does not change it
            at += portion
        state.update(data[at:])
        assert state.size == len(data)
    assert states[0].digest() == _native.ssdeep_hash(data)
    assert states[1].digest() == _native.tlsh_hash(data)


@pytest.mark.parametrize("data", [noise(20_000), b"abc" * 5_000, bytes(3_000) + noise(500)], ids=["noise", "period", "zeros"])
def test_streaming_byte_by_byte(data: bytes) -> None:
    one, other = _native.SsdeepState(), _native.TlshState()
    for i in range(len(data)):
        one.update(data[i : i + 1])
        other.update(data[i : i + 1])
        other.update(b"")
    assert one.digest() == _native.ssdeep_hash(data)
    assert other.digest() == _native.tlsh_hash(data)


@pytest.mark.parametrize("size", [0, 1, 49, 50, 4096, io.BLOCK_BYTES - 1, io.BLOCK_BYTES, 2 * io.BLOCK_BYTES + 5])
def test_a_file_equals_its_bytes(tmp_path: Path, size: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(noise(size))
    assert ssdeep(path) == ssdeep(noise(size))
    assert tlsh(path) == tlsh(noise(size))


def test_text_is_hashed_as_utf8() -> None:
    text = "相似文本检测 near duplicates " * 9
    assert ssdeep(text) == ssdeep(text.encode())
    assert tlsh(text) == tlsh(text.encode())
    assert ssdeep("lone \ud800 surrogate") == ssdeep(b"lone \xed\xa0\x80 surrogate")


def test_any_contiguous_memory_is_hashed_as_its_bytes() -> None:
    data = noise(4_000)
    grid = np.frombuffer(data, np.int32).reshape(10, 100)
    for same in (bytearray(data), memoryview(data), memoryview(bytearray(data)), memoryview(grid.data)):
        assert ssdeep(same) == ssdeep(data)
        assert tlsh(same) == tlsh(data)


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_a_batch_equals_single_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    monkeypatch.setattr(fuzzy, "GROUP", 50_000)  # several calls of the kernel
    items: list[Any] = list(reference.inputs(seed=14, count=300, largest=1 << 13))
    items += [b"", "", "text", bytearray(b"bytes"), memoryview(noise(100))]
    for number in (3, 70, len(items)):
        path = tmp_path / str(number)
        path.write_bytes(noise(number * 40))
        items.insert(number, path)
    assert ssdeeps(items, workers=workers) == [ssdeep(item) for item in items]
    assert tlshs(iter(items), workers) == [tlsh(item) for item in items]


def test_an_empty_batch() -> None:
    assert ssdeeps([]) == []
    assert tlshs([]) == []


@pytest.mark.parametrize("workers", [1, 2])
def test_one_against_many(workers: int) -> None:
    pairs = list(reference.ssdeep_digests(seed=15, count=3_000))
    query = pairs[0][0]
    digests = [query, *(right for _, right in pairs)]
    packed = "".join(digests).encode()
    offsets = np.cumsum([0, *map(len, digests)], dtype=np.int64)
    scores = _native.ssdeep_scores(query, packed, offsets, workers)
    assert scores.format == "B"
    assert scores.tolist() == [_native.ssdeep_score(query, digest) for digest in digests]
    assert scores[0] == 100

    records = random.Random(16).randbytes(35 * 3_000)
    for with_length in (True, False):
        distances = _native.tlsh_distances(records[:35], records, with_length, workers)
        expected = [_native.tlsh_distance(records[:35], records[i : i + 35], with_length) for i in range(0, len(records), 35)]
        assert distances.tolist() == expected
    assert _native.tlsh_distances(records[:35], b"").tolist() == []


def test_threads_may_share_a_state() -> None:
    state = _native.SsdeepState()

    def work() -> None:
        for _ in range(200):
            state.update(noise(1_000))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert state.size == 4 * 200 * 1_000
    assert state.digest() == _native.ssdeep_hash(noise(1_000) * 800)


# Inputs without a digest.


def test_empty_and_short_inputs_have_a_status() -> None:
    assert ssdeep(b"") == Ssdeep(None, "empty")
    assert tlsh("") == Tlsh(None, "empty")
    assert tlsh(noise(49)) == Tlsh(None, "too short: 49 bytes, TLSH needs at least 50")
    assert tlsh(b"a" * 100_000) == Tlsh(None, "too little variety: TLSH needs more than half of its buckets filled")


@pytest.mark.parametrize(
    ("one", "other", "status"), [(ssdeep(b""), ssdeep(b"abc"), "empty"), (tlsh(noise(60)), tlsh(b"abc"), "too short: 3 bytes")]
)
def test_a_fingerprint_without_value_is_not_compared(one: Any, other: Any, status: str) -> None:
    for left, right in ((one, other), (other, one)):
        with pytest.raises(InputError, match=status):
            left.similarity(right)
        with pytest.raises(InputError, match=status):
            left.distance(right)


def test_kinds_are_not_mixed() -> None:
    left: Any = ssdeep(noise(100))
    with pytest.raises(InputError, match="cannot compare a Ssdeep with a Tlsh"):
        left.similarity(tlsh(noise(100)))


# Serialised forms.

PRINTS: list[Any] = [ssdeep(data) for data, _, _ in GOLDEN] + [tlsh(data) for data, _, _ in GOLDEN] + [ssdeep(b""), tlsh(b"")]


@pytest.mark.parametrize("found", PRINTS, ids=stable_id)
def test_round_trips(found: Any) -> None:
    conforms: bool = isinstance(found, Fingerprint)
    assert conforms
    assert type(found).from_dict(found.to_dict()) == found
    assert type(found).from_bytes(found.to_bytes()) == found
    assert ("status" in found.to_dict()) == (found.value is None)
    assert found.to_dict()["recipe"] == found.recipe == f"{found.kind}.1"


def test_the_compact_form_is_compact() -> None:
    found = ssdeep(noise(3_000_000))
    assert len(found.to_bytes()) - len(pack("ssdeep", "ssdeep.1", b"")) == 1 + 3 + 69  # 60 and 32 letters
    assert len(tlsh(noise(100)).to_bytes()) - len(pack("tlsh", "tlsh.1", b"")) == 1 + 35


def test_another_recipe_is_refused() -> None:
    with pytest.raises(RecipeMismatch):
        Ssdeep.from_dict({"value": "3:a:a", "recipe": "ssdeep.2"})
    with pytest.raises(RecipeMismatch):
        Ssdeep.from_bytes(pack("ssdeep", "ssdeep.2", b"\x01\x00\x00\x00"))


BAD_SSDEEP = [
    "", ":", "::", "3", "3:", "3:a", "3:a:a:a", "3:a:a,name", " 3:a:a", "3:a:a\n", "4:a:a", "03:a:a", "+3:a:a", "-3:a:a", "0:a:a", "9:a:a",
    "3.0:a:a", "6442450944:a:a", "99999999999999999999999:a:a", "3:a*:a", "3:é:a", "3:a:\0", "3:a:a=", f"3:{'a' * 65}:a", f"3:a:{'a' * 33}",
    "\uff13:a:a", "3:\ud800:a",
]  # fmt: skip
BAD_TLSH = [
    "",
    "T1",
    "TNULL",
    "00" * 35,
    "T1" + "0" * 69,
    "T1" + "0" * 71,
    "T1" + "g" * 70,
    "t1" + "0" * 70,
    "T2" + "0" * 70,
    "T1" + "a" * 70,
    "T1" + "0" * 70 + "\n",
]


@pytest.mark.parametrize(("kind", "value"), [(Ssdeep, value) for value in BAD_SSDEEP] + [(Tlsh, value) for value in BAD_TLSH])
def test_malformed_digests_are_refused(kind: Any, value: str) -> None:
    with pytest.raises(InputError, match="is not a digest"):
        kind(value)
    with pytest.raises(InputError):
        kind.from_dict({"value": value, "recipe": f"{kind.kind}.1"})


@pytest.mark.parametrize("value", BAD_SSDEEP)
def test_the_kernel_refuses_malformed_digests_too(value: str) -> None:
    with pytest.raises((ValueError, TypeError)):
        _native.ssdeep_score(value, "3:a:a")
    packed = value.encode("utf-8", "surrogatepass")
    with pytest.raises(ValueError, match="digest 1 of the batch"):
        _native.ssdeep_scores("3:a:a", b"3:a:a" + packed, array("q", [0, 5, 5 + len(packed)]))


@pytest.mark.parametrize(
    "entries",
    [
        {},
        {"value": "3:a:a"},
        {"value": 3, "recipe": "ssdeep.1"},
        {"value": b"3:a:a", "recipe": "ssdeep.1"},
        {"value": None, "recipe": "ssdeep.1"},
        {"value": None, "status": "", "recipe": "ssdeep.1"},
        {"value": None, "status": "ok", "recipe": "ssdeep.1"},
        {"value": None, "status": "a\nb", "recipe": "ssdeep.1"},
    ],
)
def test_malformed_dictionaries_are_refused(entries: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Ssdeep.from_dict(entries)


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\x00",  # a status without a word
        b"\x02",
        b"\x01\x00\x00",  # cut off
        b"\x01\x1f\x00\x00",  # level 31
        b"\x01\x00\x41\x00" + bytes(49),  # 65 letters
        b"\x01\x00\x00\x21" + bytes(25),  # 33 letters
        b"\x01\x00\x01\x00\x00\x00",  # two bytes for one letter
        b"\x01\x00\x01\x00\x00\x00\x01",  # bits behind the last letter
        b"\x01\x00\x00\x00\x00",  # bytes behind the last letter
    ],
)
def test_malformed_ssdeep_payloads_are_refused(payload: bytes) -> None:
    with pytest.raises(InputError):
        Ssdeep.from_bytes(pack("ssdeep", "ssdeep.1", payload))


@given(st.binary(max_size=120))
@MANY
def test_any_payload_is_read_back_or_refused(payload: bytes) -> None:
    kinds: tuple[Any, ...] = (Ssdeep, Tlsh)
    for kind in kinds:
        packed = pack(kind.kind, f"{kind.kind}.1", payload)
        try:
            found = kind.from_bytes(packed)
        except InputError:
            continue
        assert kind.from_bytes(found.to_bytes()) == found


def test_a_status_does_not_stand_beside_a_value() -> None:
    with pytest.raises(InputError, match="contradicts"):
        Ssdeep("3:a:a", "empty")


# Hostile arguments.


@pytest.mark.parametrize("data", [None, 3, 2.5, ["a"], np.zeros(9, np.uint8), object()], ids=lambda value: type(value).__name__)
def test_what_is_not_bytes_is_refused(data: Any) -> None:
    for function in (ssdeep, tlsh):
        with pytest.raises(InputError, match="data: expected bytes, a text or a Path"):
            function(data)
    with pytest.raises(InputError, match=r"items\[1\]: expected bytes"):
        ssdeeps([b"a", data])


def test_scattered_memory_is_refused() -> None:
    for scattered in (memoryview(b"abcdef")[::2], np.zeros((4, 4), np.uint8)[:, 1].data):
        with pytest.raises(InputError, match="not plain contiguous memory"):
            ssdeep(scattered)


@pytest.mark.parametrize("workers", [0, -1, 1025, True, 1.0, "2", None])
def test_bad_workers_are_refused(workers: Any) -> None:
    with pytest.raises(InputError, match="workers="):
        ssdeeps([b"a"], workers)


@pytest.mark.parametrize("items", ["text", b"bytes", bytearray(b"x"), Path("x")])
def test_one_input_is_not_a_batch(items: Any) -> None:
    with pytest.raises(InputError, match="pass a list"):
        tlshs(items)


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    for path, message in ((tmp_path / "missing", "does not exist"), (tmp_path, "is a directory"), (Path("a\0b"), "not a path|cannot read")):
        with pytest.raises(InputError, match=message):
            ssdeep(path)
        with pytest.raises(InputError, match=message):
            tlshs([b"", path], 2)


WRONG_ARRAYS: list[Any] = [
    np.zeros(8, np.int8), np.zeros(8, np.float64), np.zeros(8, bool), np.zeros((2, 4), np.uint8), np.zeros(8, np.uint8)[::2],
    np.zeros(8, np.uint16), [1, 2], None, "text", 5, np.float32(1), array("b", [1]),
]  # fmt: skip


@pytest.mark.parametrize("data", WRONG_ARRAYS, ids=stable_id)
def test_the_kernels_refuse_other_arrays(data: Any) -> None:
    offsets = np.array([0, 1], np.int64)
    calls: list[Callable[[], object]] = [
        lambda: _native.ssdeep_hash(data),
        lambda: _native.tlsh_hash(data),
        lambda: _native.SsdeepState().update(data),
        lambda: _native.TlshState().update(data),
        lambda: _native.ssdeep_hashes(data, offsets),
        lambda: _native.tlsh_hashes(data, offsets),
        lambda: _native.ssdeep_scores("3:a:a", data, offsets),
        lambda: _native.tlsh_distances(bytes(35), data),
        lambda: _native.tlsh_distance(bytes(35), data),
    ]
    for call in calls:
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize(
    "offsets",
    [[], [-1, 3], [0, 11], [0, 5, 4], [0, 2**62], [0, 10, -(2**63)], [2**63 - 1, 2**63 - 1], [11]],
    ids=str,
)
def test_the_kernels_check_offsets(offsets: list[int]) -> None:
    wrong = np.array(offsets, np.int64)
    for call in (_native.ssdeep_hashes, _native.tlsh_hashes):
        with pytest.raises(ValueError, match="offsets"):
            call(bytes(10), wrong)
    with pytest.raises(ValueError, match="offsets"):
        _native.ssdeep_scores("3:a:a", bytes(10), wrong)


@pytest.mark.parametrize(
    "offsets",
    [np.array([0, 1], np.int32), np.array([0.0, 1.0]), np.array([0, 9, 1, 9], np.int64)[::2], np.array([[0, 1]], np.int64), [0, 1], None],
)
def test_the_kernels_refuse_other_offsets(offsets: Any) -> None:
    with pytest.raises(TypeError):
        _native.ssdeep_hashes(bytes(10), offsets)
    with pytest.raises(TypeError):
        _native.tlsh_hashes(bytes(10), offsets)


def test_the_kernels_take_a_slice_of_the_data() -> None:
    data = noise(1_000)
    packed, ends = _native.ssdeep_hashes(data, array("q", [100, 400, 400, 900]))
    assert [packed[a:b].decode() for a, b in itertools.pairwise(ends.tolist())] == [
        _native.ssdeep_hash(part) for part in (data[100:400], b"", data[400:900])
    ]


def test_the_kernels_check_sizes_and_workers() -> None:
    with pytest.raises(ValueError, match="35"):
        _native.tlsh_distances(bytes(34), bytes(35))
    with pytest.raises(ValueError, match="35"):
        _native.tlsh_distances(bytes(35), bytes(36))
    with pytest.raises(ValueError, match="35"):
        _native.tlsh_distance(bytes(35), bytes(70))
    for workers in (0, 5_000):
        with pytest.raises(ValueError, match="workers"):
            _native.ssdeep_hashes(b"", array("q", [0]), workers)
