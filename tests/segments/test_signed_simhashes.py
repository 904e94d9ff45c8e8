"""SimHashes as a database without unsigned integers has them: taken wherever a SimHash is given as a number."""

from __future__ import annotations

import random

import numpy as np
import pytest

import lookalike as la
from lookalike.cli import main
from lookalike.errors import InputError
from lookalike.segments.hamming import words_of

CHANCE = random.Random(8)


def signed(value: int, bits: int) -> int:
    return value - 2**bits if value >= 2 ** (bits - 1) else value


@pytest.mark.parametrize("bits", [32, 64, 128])
def test_both_numbers_are_one_simhash(bits: int) -> None:
    for value in (0, 1, 2 ** (bits - 1) - 1, 2 ** (bits - 1), 2**bits - 1, *(CHANCE.getrandbits(bits) for _ in range(20))):
        made = la.SimHash(value, bits, "r")
        assert made.signed == signed(value, bits)
        assert la.SimHash(made.signed, bits, "r") == made
        assert hash(la.SimHash(made.signed, bits, "r")) == hash(made)
        assert int(la.SimHash(made.signed, bits, "r")) == value
        for written in (made.hex, value, made.signed):
            assert la.SimHash.from_dict({"value": written, "bits": bits, "recipe": "r"}) == made
    for wrong in (2**bits, -(2 ** (bits - 1)) - 1, True, 1.0):
        with pytest.raises(InputError, match="signed or unsigned"):
            la.SimHash(wrong, bits, "r")  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["123456", "a7f48284b51a46bd", "-0x5", "", "0x", "0x1_0", " 0x5"])
def test_hexadecimal_digits_have_0x(text: str) -> None:
    with pytest.raises(InputError, match="behind 0x"):
        la.SimHash.from_dict({"value": text, "bits": 64, "recipe": "r"})


@pytest.mark.parametrize("bits", [32, 64, 128])
def test_lists_and_arrays(bits: int) -> None:
    values = [CHANCE.getrandbits(bits) for _ in range(500)]
    negative = [signed(value, bits) for value in values]
    assert min(negative) < 0
    expected = words_of(values, bits, "values")
    assert (words_of(negative, bits, "values") == expected).all()
    if bits == 128:
        array = expected.view(np.int64).reshape(-1, 2)
    else:
        array = np.array(negative, dtype=np.int64)
        assert (words_of(array.astype(f"i{bits // 8}"), bits, "values") == expected).all()
        assert (words_of(list(array), bits, "values") == expected).all()  # type: ignore[arg-type]
    assert (words_of(array, bits, "values") == expected).all()
    index = la.HammingIndex(array, bits=bits)
    for k in (0, 5):
        left, right = index.search(array, k=k), la.HammingIndex(values, bits=bits).search(values, k=k)
        assert all((a == b).all() for a, b in zip(left, right, strict=True))


def test_what_has_too_many_bits_is_refused() -> None:
    for array in (np.array([2**32]), np.array([-(2**31) - 1]), [2**32], [-(2**31) - 1]):
        with pytest.raises(InputError, match="32 bits, signed or unsigned"):
            words_of(array, 32, "values")
    with pytest.raises(InputError, match="float64"):
        words_of(np.array([1.0]), 64, "values")


def test_an_index_takes_and_finds_them() -> None:
    values = np.array([-5, 3, 2**63 - 1, -(2**63)], dtype=np.int64)
    with la.open("memory://", kinds="simhash") as index:
        index.add_simhashes([10, 11, 12, 13], values)
        assert [match.id for match in index.search(simhash=-5, k=0)] == [10]
        assert [match.id for match in index.search(simhash=2**64 - 5, k=0)] == [10]
        assert [match.id for match in index.search(simhash=np.int64(-5), k=0)] == [10]  # type: ignore[arg-type]
        assert index.search_simhashes(values, k=0).ids.tolist() == [10, 11, 12, 13]
        with pytest.raises(InputError, match="signed or unsigned"):
            index.search(simhash=-(2**63) - 1)


def test_the_command_line_reads_numbers_as_psql_prints_them(tmp_path: object, capsys: pytest.CaptureFixture[str]) -> None:
    store = f"{tmp_path}/s"
    with la.open(store, kinds="simhash") as index:
        index.add_simhashes(["decimal", "hex", "negative"], [123456, 0x123456, 2**64 - 5])

    def found(number: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main(["search", store, "--simhash", number, "--k", "0"])
        said = capsys.readouterr()
        return said.out.splitlines()[1].split()[0] if ended.value.code == 0 and said.out else said.err

    assert found("123456") == "decimal"
    assert found("0x123456") == "hex"
    assert found("-5") == found("18446744073709551611") == found("0xfffffffffffffffb") == "negative"
    for wrong in ("a7f48284b51a46bd", "0x", "1e5", "", "12 3", "-0x5"):
        assert "0xa7f48284b51a46bd" in found(wrong)
    for wrong in ("18446744073709551616", "-9223372036854775809"):
        assert "signed or unsigned" in found(wrong)
