"""Fields of meta that are indexed: what a document has in them, as a key whose order is that of the values.

A key is a number or the beginning of a text in UTF-8, whose order is that of code points. Keys are coarser than values: numbers are
rounded, and texts are cut. So a range of keys may hold more than was asked for, and never less; whoever asks looks at the values.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from lookalike.checks import is_number, is_unicode, listed_names
from lookalike.errors import InputError

KEY_BYTES = 100  # of a text: sites, days and names are shorter
MOST_FIELDS = 16
NAME_BYTES = 200
MISSING = object()
Key = float | bytes


class FieldRange(NamedTuple):
    """The keys from ``low`` to ``high``, both included: of numbers, or of texts. None: there is no end on this side."""

    name: str
    low: Key | None
    high: Key | None

    @property
    def of_texts(self) -> bool:
        return isinstance(self.high if self.low is None else self.low, bytes)


def key_of(value: object) -> Key | None:
    """None of what has no order."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")[:KEY_BYTES]
    if not is_number(value):
        return None
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def field_of(meta: Mapping[str, Any], name: str) -> Any:
    """``author.name`` is the name within the author, unless there is a field that is called so."""
    if name in meta:
        return meta[name]
    found: Any = meta
    for part in name.split("."):
        if not isinstance(found, dict) or part not in found:
            return MISSING
        found = found[part]
    return found


def entries_of(meta: str | None, names: Sequence[str]) -> Iterator[tuple[str, Key]]:
    """The keys of a document: one of each field, or of a list one of each element."""
    if not meta:
        return
    held = json.loads(meta)
    for name in names:
        value = field_of(held, name)
        keys = map(key_of, value if isinstance(value, list) else [value])
        for key in dict.fromkeys(key for key in keys if key is not None):
            yield name, key


def parse_indexed(indexed: object) -> tuple[str, ...] | None:
    """The names of fields, as a list or separated by commas, each once and in order."""
    if indexed is None:
        return None
    names = listed_names("indexed", indexed, "the names of fields of meta, as a list or with commas between them")
    for name in names:
        if "\0" in name or not is_unicode(name) or not 1 <= len(name.encode()) <= NAME_BYTES:
            raise InputError(f"indexed: {name!r:.60} is no name of a field that can be indexed: give 1 to {NAME_BYTES} bytes of text")
    if len(set(names)) > MOST_FIELDS:
        raise InputError(f"indexed: {len(set(names))} fields; choose up to {MOST_FIELDS} that searches are filtered by")
    return tuple(sorted(set(names)))
