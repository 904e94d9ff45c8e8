"""Texts as the native kernels read them: one UTF-8 buffer with offsets."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple


class Joined(NamedTuple):
    data: Any  # a buffer of UTF-8 bytes
    offsets: Any  # a buffer of int64, one more than texts

    def texts(self) -> Iterator[str]:
        """The texts one by one, for recipes that are not native."""
        view = memoryview(self.data)
        for first, last in itertools.pairwise(self.offsets):
            yield text_of(bytes(view[first:last]))


def text_of(data: bytes) -> str:
    """The text behind UTF-8, in which half a character is three bytes. Bytes that are not UTF-8 are replaced as Python replaces them."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")
