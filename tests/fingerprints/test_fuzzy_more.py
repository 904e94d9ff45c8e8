"""Nilsimsa and mmdt: digests of the packages that define them, the slow version, forms and misuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
import reference_fuzzy as reference
from lookalike.fingerprints import Mmdt, Nilsimsa

GOLDEN = json.loads((Path(__file__).parent.parent / "golden" / "fuzzy_more.json").read_text(encoding="utf-8"))
INPUTS = reference.fuzzy_inputs()


def test_digests_of_the_packages(tmp_path: Path) -> None:
    names = list(GOLDEN["digests"])
    assert names == list(INPUTS)
    for workers in (1, 3):
        assert [each.value for each in la.nilsimsas(list(INPUTS.values()), workers)] == [
            GOLDEN["digests"][name]["nilsimsa"] for name in names
        ]
        assert [each.value for each in la.mmdts(list(INPUTS.values()), workers)] == [GOLDEN["digests"][name]["mmdt"] for name in names]
    for name in names[::7]:
        path = tmp_path / "file"
        path.write_bytes(INPUTS[name])
        assert la.nilsimsa(path) == la.nilsimsa(INPUTS[name])
        assert la.mmdt(path) == la.mmdt(INPUTS[name])


def test_similarities_of_mmdt_are_those_of_the_package() -> None:
    for left, right, expected in GOLDEN["mmdt_similarities"]:
        assert la.mmdt(INPUTS[left]).similarity(la.mmdt(INPUTS[right])) == expected


@given(st.binary(min_size=3, max_size=300))
def test_nilsimsa_is_that_of_the_reference(data: bytes) -> None:
    assert la.nilsimsa(data).value == reference.nilsimsa(data)


def test_nilsimsa_is_that_of_the_package() -> None:
    package = pytest.importorskip("nilsimsa")
    for data in list(INPUTS.values())[9:40]:
        assert la.nilsimsa(data).value == package.Nilsimsa(data).hexdigest()
    left, right = (la.nilsimsa(INPUTS[name]) for name in ("words of 1000", "words of 5000"))
    assert 128 - left.distance(right) == package.compare_digests(left.value, right.value)


def test_what_is_alike_has_alike_digests() -> None:
    text = INPUTS["words of 20000"] + INPUTS["noise of 5000"]
    other = text[:9000] + b"a sentence was put in here" + text[9000:]
    assert la.nilsimsa(text).similarity(la.nilsimsa(other)) > 0.9
    assert la.nilsimsa(text).similarity(la.nilsimsa(INPUTS["noise of 20000"])) < 0.5
    assert la.mmdt(text).similarity(la.mmdt(other)) > la.mmdt(text).similarity(la.mmdt(INPUTS["curve of 20000"]))


@pytest.mark.parametrize("kind", ["nilsimsa", "mmdt"])
def test_forms_and_kinds(kind: str) -> None:
    found = la.fingerprint("some text that has a few words", kind)[kind]
    assert type(found).from_dict(found.to_dict()) == found
    assert type(found).from_bytes(found.to_bytes()) == found
    assert found.recipe == f"{kind}.1"
    assert kind not in la.fingerprint("some text that has a few words")  # only by name: 'all' stays what it was
    nothing = la.fingerprint(b"", kind)[kind]
    assert nothing.to_dict()["status"] == "empty"
    with pytest.raises(la.InputError, match="without a value"):
        getattr(la, kind)(b"").similarity(found)
    with pytest.raises(la.InputError, match="expected bytes"):
        getattr(la, kind)(3)


def test_malformed_digests_are_refused() -> None:
    with pytest.raises(la.InputError, match="64 lower-case"):
        Nilsimsa("F" * 64)
    with pytest.raises(la.InputError, match="a colon and 32 more"):
        Mmdt("00000000")
    with pytest.raises(la.InputError):
        Mmdt.from_bytes(la.mmdt(b"text").to_bytes()[:-1])
    assert "too short" in la.nilsimsa(b"ab").status
