"""Numbers as patterns of bits. Databases and languages without unsigned integers have the upper half of them as negative numbers, in
two's complement: -1 has all bits set. Wherever fingerprints are given as numbers, both are taken.
"""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

from lookalike.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def bit_pattern(value: object, bits: int, name: str) -> int:
    """The number from 0 on with the same bits."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not -(1 << bits - 1) <= int(value) < 1 << bits:
        shown = f"{value!r:.60}" if not isinstance(value, int) or value.bit_length() < 256 else f"a number of {value.bit_length()} bits"
        raise InputError(f"{name} is {shown}: expected an integer of {bits} bits, signed or unsigned")
    return int(value) % (1 << bits)


def bit_patterns(array: NDArray[Any], bits: int, name: str) -> NDArray[np.uint64]:
    """The same for an array, of up to 64 bits each."""
    import numpy as np

    if array.dtype.kind not in "iu":
        raise InputError(f"{name}: expected integers, signed or unsigned, not {array.dtype}")
    if array.size and array.dtype.itemsize * 8 > bits:  # no smaller type has a number that does not fit
        for extreme in (array.min(), array.max()):
            bit_pattern(extreme, bits, f"{name}: a value")
    words = array.astype(np.int64).view(np.uint64) if array.dtype.kind == "i" else array.astype(np.uint64, copy=False)
    return words if bits == 64 else words & np.uint64((1 << bits) - 1)


def signed(pattern: int, bits: int) -> int:
    """The number in two's complement with the same bits."""
    return pattern - (1 << bits) if pattern >> bits - 1 else pattern
