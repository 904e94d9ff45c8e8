"""All fingerprints of one thing at once."""

from __future__ import annotations

from pathlib import Path

import pytest

import lookalike as la
from lookalike.fingerprints.every import ALL, MAX_GROWING


def test_all_kinds_of_a_text_equal_the_single_functions() -> None:
    text = "近重复检测：the same text, over and over again, and once more for good measure."
    found = la.fingerprint(text)
    assert tuple(found) == ALL
    assert found["simhash"] == la.simhash(text)
    assert found["weighted-minhash"] == la.weighted_minhash(text)
    assert found["blake2b"] == la.digest(text, "blake2b")
    assert found.read is not None
    assert all(isinstance(each, la.Fingerprint) for each in found.values())


def test_text_file_and_bytes_are_the_same_thing(tmp_path: Path) -> None:
    text = "相似的文本得到相近的指纹。" * 10
    path = tmp_path / "a.txt"
    path.write_text(text, encoding="utf-8")
    assert la.fingerprint(path) == la.fingerprint(text) == la.fingerprint(text.encode())


def test_blank_texts_have_no_text_fingerprints() -> None:
    found = la.fingerprint(" \n")
    assert isinstance(found["simhash"], la.NoFingerprint)
    assert found["simhash"].to_dict() == {"value": None, "status": "no tokens: the text is empty or blank"}
    assert found["sha256"] == la.digest(" \n")


def test_growing_kinds_are_left_out_of_all_for_long_texts_and_made_by_name() -> None:
    text = "字" * (MAX_GROWING + 1)
    found = la.fingerprint(text)
    assert "ask for it by name" in found["winnowing"].to_dict()["status"]
    assert isinstance(found["simhash"], la.SimHash)
    assert isinstance(la.fingerprint(text, "winnowing")["winnowing"], la.Winnowing)


def test_records() -> None:
    data = {"domain": "invoice", "confidence": 0.9}
    assert la.fingerprint(data) == {"record": la.record(data)}
    assert la.fingerprint('{"domain": "invoice", "confidence": 0.9}', "record")["record"] == la.record(data)
    with pytest.raises(la.InputError, match="has no text"):
        la.fingerprint(data, "simhash")
    with pytest.raises(la.InputError, match="has no bytes"):
        la.fingerprint(data, "sha256")
    with pytest.raises(la.InputError, match="one JSON object"):
        la.fingerprint("[1]", "record")


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '{"b": [{"a": 1, "c": 2, "a": 1}]}'])
def test_a_key_that_a_record_has_twice_is_named(text: str) -> None:
    """Which of the two is meant, nobody can say."""
    with pytest.raises(la.InputError, match=r"the key 'a' stands in it twice: keep one"):
        la.parse_record(text)


def test_kinds_are_checked() -> None:
    assert tuple(la.fingerprint("x", "md5, simhash,md5")) == ("md5", "simhash")
    assert tuple(la.fingerprint("x", ["sha1"])) == ("sha1",)
    with pytest.raises(la.UnknownName, match="nonsense"):
        la.fingerprint("x", "nonsense")
    with pytest.raises(la.InputError, match="at least one"):
        la.fingerprint("x", [])
    with pytest.raises(la.InputError, match="cannot fingerprint a int"):
        la.fingerprint(3)  # type: ignore[arg-type]
