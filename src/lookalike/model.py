"""The plain values that every layer passes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

MAX_ID_BYTES = 2048  # of a document's id: what every store can keep and index
ID_NUMBERS = range(-(2**63), 2**63)  # ids that are whole numbers

Span = tuple[int, int]
"""Start and end in code points of the original text, end exclusive."""


class Token(NamedTuple):
    """A token: its normal form, and where it stands in the original text."""

    text: str
    start: int
    end: int


class Passage(NamedTuple):
    """A fragment that two texts share: where it stands in each."""

    left: Span
    right: Span


@dataclass(frozen=True, slots=True)
class Document:
    """A thing with a name: what a corpus is made of and an index keeps."""

    id: str | int
    text: str | None
    meta: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = None  # the file behind it, for digests of its raw bytes
    page: Any = field(default=None, compare=False, repr=False)  # the ``Page`` behind it, for its structure
    data: bytes | None = field(default=None, compare=False, repr=False)  # the bytes behind it, where there is no path
    record: Mapping[str, Any] | None = None  # structured data of it, or all there is of it
