"""Karp-Rabin rolling hashes: one number for every window of a text.

The hash of the window c₁ … c_w is c₁·base^(w-1) + … + c_w modulo ``prime``, where c is a code point (or a byte, for
bytes). Every window costs one step, whatever its size. A text shorter than the window has one hash, over all its
characters; an empty text has none, and says so in ``status``.

``joined`` writes the hashes in decimal, one after the other, without separators. It is kept because it is a published
form, and it is weak in four ways:

* it is ambiguous: 1, 23 and 12, 3 both give "123";
* the default prime of 101 leaves 101 different hashes, so windows collide all the time;
* it depends on positions: a character inserted in front moves everything behind it;
* it depends on lengths: fingerprints of different length are compared up to the shorter one, and no further.

``positional_similarity`` compares that form digit by digit and inherits all four. ``similarity`` compares the hashes as
a multiset instead, which cures the first, the third and the fourth. For the second, take a large modulus, such as
2147483647: with 101, all long texts have much the same hashes and look alike.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from lookalike.checks import check_int
from lookalike.errors import InputError
from lookalike.fingerprints.base import check_pair, field, pack_words, unpack_words

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

LIMIT = 2**31
"""Window, base and prime stay below it, so that a product of two remainders fits in 64 bits."""

# Importing numpy takes as long as the plain loop takes for half a million characters; a batch imports it once.
_VECTORISE_ONE = 500_000
_VECTORISE_IN_BATCH = 1_000

_RECIPE = re.compile(r"karp-rabin-(bytes-)?([0-9]{1,10})-([0-9]{1,10})-([0-9]{1,10})\.1")

Unit = Literal["characters", "bytes"]


@dataclass(frozen=True, slots=True)
class KarpRabin:
    """The hashes of all windows, in the order of the text."""

    kind: ClassVar[str] = "karp-rabin"

    values: tuple[int, ...]
    window: int = 5
    base: int = 256
    prime: int = 101
    unit: Unit = "characters"

    def __post_init__(self) -> None:
        check_parameters(self.window, self.base, self.prime)
        if self.unit not in ("characters", "bytes"):
            raise InputError(f"karp-rabin unit={self.unit!r}: choose characters or bytes")
        if not isinstance(self.values, tuple) or not set(map(type, self.values)) <= {int}:
            raise InputError("karp-rabin values: give a tuple of integers")
        if self.values and not (min(self.values) >= 0 and max(self.values) < self.prime):
            raise InputError(f"karp-rabin values: every hash lies in 0 to {self.prime - 1}, the prime less one")

    @property
    def recipe(self) -> str:
        unit = "bytes-" if self.unit == "bytes" else ""
        return f"karp-rabin-{unit}{self.window}-{self.base}-{self.prime}.1"

    @property
    def joined(self) -> str:
        """The hashes in decimal, one after the other. The module's text names its weaknesses."""
        return "".join(map(str, self.values))

    @property
    def status(self) -> str | None:
        """Why there are no hashes, or nothing."""
        return None if self.values else "empty: there are no characters to hash"

    def similarity(self, other: Self, /) -> float:
        """The Jaccard index of the two multisets of hashes: 1.0 for two empty texts, 0.0 for an empty and another."""
        check_pair(self, other)
        left, right = Counter(self.values), Counter(other.values)
        union = (left | right).total()
        return (left & right).total() / union if union else 1.0

    def distance(self, other: Self, /) -> float:
        return 1.0 - self.similarity(other)

    def positional_similarity(self, other: Self, /) -> float:
        """The share of this joined form's digits that do not differ from the digit at the same place in the other.

        Digits past the end of the other count as equal, so this is neither symmetric nor sound: it is here to
        reproduce published figures. Two empty texts give 1.0, an empty one against another 0.0.
        """
        check_pair(self, other)
        left, right = self.joined, other.joined
        if not left:
            return 0.0 if right else 1.0
        return 1 - sum(a != b for a, b in zip(left, right, strict=False)) / len(left)

    def to_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {"value": self.joined if self.values else None}
        if self.status:
            found["status"] = self.status
        parameters = {"window": self.window, "base": self.base, "prime": self.prime, "unit": self.unit}
        return {**found, "values": list(self.values), **parameters, "recipe": self.recipe}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        made = cls._of_recipe(field(data, "recipe", cls.kind, str), tuple(field(data, "values", cls.kind, list, tuple)))
        for name, expected in made.to_dict().items():
            if name not in ("values", "status") and data.get(name, expected) != expected:
                raise InputError(f"karp-rabin fingerprint: {name!r} does not agree with its values and its recipe {made.recipe}")
        return made

    def to_bytes(self) -> bytes:
        return pack_words(self.kind, self.recipe, self.values)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        return cls._of_recipe(*unpack_words(cls.kind, data))

    @classmethod
    def _of_recipe(cls, recipe: str, values: tuple[int, ...]) -> Self:
        match = _RECIPE.fullmatch(recipe)
        made = match and cls(values, int(match[2]), int(match[3]), int(match[4]), "bytes" if match[1] else "characters")
        if not made or made.recipe != recipe:
            raise InputError(f"karp-rabin fingerprint: unknown recipe {recipe!r}; this release knows karp-rabin-WINDOW-BASE-PRIME.1")
        return made


def karp_rabin(text: str | bytes, window: int = 5, base: int = 256, prime: int = 101) -> KarpRabin:
    """The rolling hashes of a text's characters, or of bytes.

    ``prime`` is the modulus, 2 to 2**31 - 1. It need not be a prime, but with a factor in common with ``base`` the
    hashes forget the first characters of each window.
    """
    check_parameters(window, base, prime)
    return _fingerprint(text, window, base, prime, _VECTORISE_ONE)


def karp_rabins(texts: Iterable[str | bytes], window: int = 5, base: int = 256, prime: int = 101) -> list[KarpRabin]:
    """The fingerprints of many texts, in their order."""
    check_parameters(window, base, prime)
    if isinstance(texts, str | bytes | bytearray) or not isinstance(texts, Iterable):
        raise InputError(f"texts of type {type(texts).__name__}: give a list, or call karp_rabin() for one text")
    return [_fingerprint(text, window, base, prime, _VECTORISE_IN_BATCH) for text in texts]


def check_parameters(window: int, base: int, prime: int) -> None:
    """Raise unless the three are usable."""
    for name, value, least in (("window", window, 1), ("base", base, 2), ("prime", prime, 2)):
        check_int(f"karp-rabin {name}", value, least, LIMIT - 1, f"give an integer of {least} to {LIMIT - 1}")


def _fingerprint(text: str | bytes, window: int, base: int, prime: int, vectorise_from: int) -> KarpRabin:
    if not isinstance(text, str | bytes):
        raise InputError(f"text of type {type(text).__name__}: give a str or bytes")
    size = min(window, len(text))  # a short text is one window
    if not size:
        values: tuple[int, ...] = ()
    elif len(text) < vectorise_from:
        values = tuple(roll(list(map(ord, text)) if isinstance(text, str) else text, size, base, prime))
    else:
        values = tuple(roll_array(_codes(text), size, base, prime).tolist())
    return KarpRabin(values, window, base, prime, "characters" if isinstance(text, str) else "bytes")


def roll(codes: Sequence[int], window: int, base: int, prime: int) -> list[int]:
    """The hash of every window, each from the one before."""
    current = 0
    for code in codes[:window]:
        current = (current * base + code) % prime
    hashes = [current]
    leaving = pow(base, window, prime)  # the weight of a character that has just left the window
    for old, new in zip(codes, codes[window:], strict=False):
        current = (current * base + new - old * leaving) % prime
        hashes.append(current)
    return hashes


def roll_array(codes: npt.NDArray[np.int64], window: int, base: int, prime: int) -> npt.NDArray[np.int64]:
    """The same hashes: those of windows of 1, 2, 4 … characters, joined by the binary digits of ``window``.

    Every remainder is below 2**31, so a product and a sum stay below 2**63.
    """
    count = len(codes) - window + 1
    block, size, power = codes % prime, 1, base % prime  # hashes of windows of `size`, and base**size
    hashes, covered = None, 0  # hashes of the first `covered` characters of each window
    while True:
        if window & size:
            part = block[covered : covered + count]
            hashes = part if hashes is None else (hashes[:count] * power + part) % prime
            covered += size
        if covered == window and hashes is not None:
            return hashes
        block = (block[:-size] * power + block[size:]) % prime
        power, size = power * power % prime, 2 * size


def _codes(text: str | bytes) -> npt.NDArray[np.int64]:
    import numpy as np

    if isinstance(text, str):
        return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.int64)
    return np.frombuffer(text, dtype=np.uint8).astype(np.int64)
