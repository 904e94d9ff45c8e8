"""SimHashes of hashes that the caller made, or of features under a hash function of his own: of any number of bits."""

from __future__ import annotations

import hashlib
import sys
from array import array
from collections.abc import Callable, Iterable, Mapping
from types import CodeType
from typing import Any

from lookalike import _native
from lookalike.bit_patterns import bit_pattern
from lookalike.checks import check_int, check_several, is_number, is_whole
from lookalike.errors import InputError
from lookalike.figures import shown_value
from lookalike.text.normalize import utf8

MAX_BITS = 4096
HashFunction = Callable[[bytes], int]
GIVEN = "hashes.1"  # what stands for a recipe where there is none


def check_width(bits: int) -> int:
    return check_int("bits", bits, 1, MAX_BITS, f"choose 1 to {MAX_BITS} bits")


def of_hashes(hashes: object, weights: object, bits: int) -> int:
    """Bit b is set if the hashes that have it weigh more than those that have not; every weight is 1 unless given."""
    several = check_several("hashes", hashes, f"a list of whole numbers of {bits} bits")
    values = [bit_pattern(value, bits, f"hashes[{place}]") for place, value in enumerate(several)]
    shares = [1.0] * len(values) if weights is None else _checked_weights(weights)
    if len(shares) != len(values):
        raise InputError(f"weights: {len(shares)} weights for {len(values)} hashes; give as many")
    return summed(sorted(zip(values, shares, strict=True)), bits)


def of_function(strings: Mapping[str, float], hash: HashFunction, bits: int) -> int:
    """Of features and their weights, by the lowest bits of a hash of their UTF-8."""
    hashed = ((_checked_hash(hash, string) & (1 << bits) - 1, weight) for string, weight in strings.items())
    return summed(sorted(hashed), bits)


def summed(pairs: Iterable[tuple[int, float]], bits: int) -> int:
    """From hashes, ascending, and their weights. No bit knows of the others, so 64 of them are done at a time."""
    hashes, weights = zip(*pairs, strict=True) if (pairs := list(pairs)) else ((), ())
    shares = array("d", weights)
    value = 0
    for low in range(0, bits, 64):
        words = array("Q", ((each >> low) & (1 << 64) - 1 for each in hashes))
        value |= _native.simhash_weighted(words, shares, 64)[0] << low
    return value & (1 << bits) - 1


def function_id(hash: Callable[..., Any]) -> str:
    """What a recipe id says of a function: its name, and a digest of its code where it has some."""
    name = f"{getattr(hash, '__module__', '')}.{getattr(hash, '__qualname__', type(hash).__qualname__)}"
    code = getattr(hash, "__code__", None)
    content = _written(code) if isinstance(code, CodeType) else ""
    return hashlib.sha256(f"{name}\0{content}".encode("utf-8", "backslashreplace")).hexdigest()[:12]


def _written(code: CodeType) -> str:
    """The code of a function and of the functions in it: the same in every process, without addresses and without the order of sets."""
    constants = tuple(
        _written(each) if isinstance(each, CodeType) else sorted(map(repr, each)) if isinstance(each, frozenset) else each
        for each in code.co_consts
    )
    return f"{code.co_code.hex()}{code.co_names}{constants}"


def _checked_hash(hash: HashFunction, string: str) -> int:
    found: Any = hash(utf8(string))
    if not is_whole(found) or found < 0:
        raise InputError(f"hash gave {shown_value(found)} for {string!r:.60}: it must take bytes and give a whole number from 0 on")
    return found


def _checked_weights(weights: object) -> list[float]:
    several = list(check_several("weights", weights, "a list of numbers, one for each hash"))
    for place, weight in enumerate(several):
        if not is_number(weight) or not abs(weight) <= sys.float_info.max:
            raise InputError(f"weights[{place}] is {shown_value(weight)}: give a finite number that fits a float")
    return [float(weight) for weight in several]
