"""Digests: known answers, files, hostile arguments."""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.errors import InputError, RecipeMismatch, UnknownName
from lookalike.fingerprints.base import Fingerprint, pack
from lookalike.fingerprints.digest import ALGORITHMS, SIZES, Digest, digest, digests

# The digests of "abc" that the standards print (RFC 1321, FIPS 180-4, FIPS 202, RFC 7693).
KNOWN = {
    "md5": "900150983cd24fb0d6963f7d28e17f72",
    "sha1": "a9993e364706816aba3e25717850c26c9cd0d89d",
    "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    "sha3_256": "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532",
    "blake2b": "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
    "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923",
    "blake2s": "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982",
}


@pytest.mark.parametrize("algorithm", KNOWN)
def test_known_answers(algorithm: str) -> None:
    assert digest(b"abc", algorithm).value == KNOWN[algorithm]
    assert digest("abc", algorithm) == digest(b"abc", algorithm)


def test_every_guaranteed_algorithm_is_offered() -> None:
    assert set(ALGORITHMS) == hashlib.algorithms_guaranteed


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_table_of_sizes_is_that_of_hashlib(algorithm: str) -> None:
    made = digest(b"x", algorithm)
    assert len(made.value) == 2 * SIZES[algorithm]
    assert hashlib.new(algorithm).digest_size in (SIZES[algorithm], 0)  # SHAKE has no size of its own


def test_shake_has_the_stated_length() -> None:
    # NIST's example of SHAKE128 for the empty message begins so.
    assert digest(b"", "shake_128").value == "7f9c2ba4e88f827d616045507605853ed73b8093f6efbc88eb1a6eacfa66ef26"
    assert digest(b"", "shake_256").value == hashlib.shake_256(b"").hexdigest(64)


@settings(deadline=None)
@given(st.binary(max_size=300), st.sampled_from(ALGORITHMS))
def test_all_forms_of_the_same_bytes_agree(data: bytes, algorithm: str) -> None:
    hasher = hashlib.new(algorithm, data)
    expected = hasher.hexdigest(SIZES[algorithm]) if "shake" in algorithm else hasher.hexdigest()  # type: ignore[call-arg]
    forms = (data, bytearray(data), memoryview(data), memoryview(data[::-1])[::-1])
    assert {digest(form, algorithm).value for form in forms} == {expected}


@settings(deadline=None)
@given(st.text())
def test_text_is_utf8(text: str) -> None:
    assert digest(text) == digest(text.encode("utf-8", "surrogatepass"))


def test_lone_surrogates_and_nuls_have_a_digest() -> None:
    assert digest("\ud800") == digest(b"\xed\xa0\x80")
    assert digest("a\x00") != digest("a")


@pytest.mark.parametrize("algorithm", ["md5", "sha256", "shake_128"])
@pytest.mark.parametrize("size", [0, 1, 2**18 - 1, 2**18, 700_001])
def test_files_stream(tmp_path: Path, algorithm: str, size: int) -> None:
    data = bytes(range(251)) * (size // 251 + 1)
    path = tmp_path / "文件.bin"
    path.write_bytes(data[:size])
    assert digest(path, algorithm) == digest(data[:size], algorithm)


def test_a_str_is_text_and_never_a_path(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"content")
    assert digest(str(path)) != digest(path)


@pytest.mark.parametrize("workers", [1, 3])
def test_batches_keep_the_order(tmp_path: Path, workers: int) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"5")
    items = [str(number) for number in range(700)]
    made = digests((path if item == "5" else item for item in items), "md5", workers)
    assert made == [digest(item, "md5") for item in items]


def test_batches_raise_what_one_item_raises(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        digests([b"", tmp_path / "none"], workers=2)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.txt' does not exist: check the path"):
        digest(tmp_path / "none.txt")


def test_directory(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a directory: name a file in it"):
        digest(tmp_path)


def test_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret"
    path.write_bytes(b"x")

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("builtins.open", refuse)  # root may read any file, so a mode of 000 would not do
    with pytest.raises(InputError, match="secret' cannot be read: check its permissions"):
        digest(path)


def test_an_endless_device_is_refused() -> None:
    with pytest.raises(InputError, match="/dev/zero' is a device"):
        digest(Path("/dev/zero"))


@pytest.mark.parametrize("path", ["a\x00b", "\ud800", "x" * 5000])
def test_impossible_paths(path: str) -> None:
    with pytest.raises(InputError, match=r"is not a path|cannot be read"):
        digest(Path(path))


@pytest.mark.parametrize("data", [None, 3, 1.5, ["a"], object()])
def test_other_types(data: object) -> None:
    with pytest.raises(InputError, match="give bytes, a str for text, or a Path for a file"):
        digest(data)  # type: ignore[arg-type]


@pytest.mark.parametrize("items", ["abc", b"abc", Path("a"), 3, None])
def test_batches_want_a_list(items: object) -> None:
    with pytest.raises(InputError, match="give a list"):
        digests(items)  # type: ignore[arg-type]


@pytest.mark.parametrize("workers", [0, -1, 1.0, True, None])
def test_workers(workers: object) -> None:
    with pytest.raises(InputError, match="workers="):
        digests([], workers=workers)  # type: ignore[arg-type]


def test_unknown_algorithms() -> None:
    with pytest.raises(UnknownName, match="unknown digest algorithm 'SHA-256'; did you mean 'sha256'"):
        digest(b"", "SHA-256")
    with pytest.raises(UnknownName, match="known algorithms: md5, sha1"):
        digests([], "crc32c-castagnoli")
    with pytest.raises(InputError, match="algorithm=None: give a name"):
        digest(b"", None)  # type: ignore[arg-type]


def test_comparison() -> None:
    one, same, other = digest("a"), digest(b"a"), digest("b")
    assert (one.similarity(same), one.distance(same)) == (1.0, 0.0)
    assert (one.similarity(other), one.distance(other)) == (0.0, 1.0)
    with pytest.raises(RecipeMismatch, match=r"digest-sha256\.1 and digest-md5\.1"):
        one.similarity(digest("a", "md5"))
    with pytest.raises(InputError, match="cannot compare a Digest with a str"):
        one.similarity(one.value)  # type: ignore[arg-type]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_round_trips(algorithm: str) -> None:
    made = digest("指纹", algorithm)
    assert isinstance(made, Fingerprint)
    assert made.recipe == f"digest-{algorithm}.1"
    assert made.to_dict() == {"value": made.value, "recipe": made.recipe}
    assert Digest.from_dict(made.to_dict()) == made
    assert Digest.from_bytes(made.to_bytes()) == made
    assert len({made, Digest.from_bytes(made.to_bytes())}) == 1


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"value": "00" * 16},
        {"value": 3, "recipe": "digest-md5.1"},
        {"value": "00" * 15, "recipe": "digest-md5.1"},
        {"value": "0G" * 16, "recipe": "digest-md5.1"},
        {"value": "AB" * 16, "recipe": "digest-md5.1"},
        {"value": "00" * 16, "recipe": "digest-md5.2"},
        {"value": "00" * 16, "recipe": "digest-md6.1"},
        {"value": "00" * 16, "recipe": "md5"},
    ],
)
def test_broken_dictionaries(content: dict[str, object]) -> None:
    with pytest.raises(InputError, match="digest"):
        Digest.from_dict(content)


@settings(deadline=None)
@given(st.binary(max_size=60))
def test_broken_bytes(data: bytes) -> None:
    for hostile in (data, pack("digest", "digest-md5.1", data[:15]), pack("digest", data.hex(), b"")):
        with pytest.raises(InputError):
            Digest.from_bytes(hostile)
