"""The kinds of fingerprints that stores keep: one object for each, one file for each, and this table of them.

Another package adds a kind through an entry point of the group ``lookalike.kind``, or with ``kinds.register(name, kind)``. Whatever names a
kind, a column or a way of searching looks it up here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lookalike.errors import InputError
from lookalike.registry import Registry

if TYPE_CHECKING:
    from lookalike.stores.kinds.base import Kind, Way
    from lookalike.stores.kinds.columns import Column

# In the order in which settings name them.
BUILT_IN = {
    "simhash": "lookalike.stores.kinds.simhash:SIMHASH",
    "minhash": "lookalike.stores.kinds.minhash:MINHASH",
    "winnowing": "lookalike.stores.kinds.winnowing:WINNOWING",
    "ssdeep": "lookalike.stores.kinds.ssdeep:SSDEEP",
    "tlsh": "lookalike.stores.kinds.tlsh:TLSH",
    "structure": "lookalike.stores.kinds.structure:STRUCTURE",
    "record": "lookalike.stores.kinds.record:RECORD",
    "vector": "lookalike.stores.kinds.vector:VECTOR",
}
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
# Columns that are not a kind's, in one of our tables or in both.
_RESERVED = frozenset(
    (
        *("row", "rowid", "oid", "collection", "id", "text", "meta", "checks", "gone", "ordinal", "id_text", "id_number", "raw", "hashes"),
        *(
            "digest",
            "bands",
            "graph",
            "record_sketch",
            "record_bands",
        ),  # columns of a kind that are not called like it, and a suffix of files
        *("simhash_high", "block0", "block1", "block2", "tableoid", "xmin", "xmax", "cmin", "cmax", "ctid"),
    )
)

kinds: Registry[Kind] = Registry("kind")
for _name, _target in BUILT_IN.items():
    kinds.register(_name, _target)
_checked: dict[str, Kind] = {}
_columns: dict[str, Column] = {}
_ways: dict[object, tuple[str, Kind, Way]] = {}


def kind_named(name: str) -> Kind:
    kind = kinds.get(name)
    if _checked.get(name) is not kind:
        _check(name, kind)
        _checked[name] = kind
    return kind


def _check(name: str, kind: Kind) -> None:
    """What becomes part of statements and of file names must be a plain name, and nobody else's."""
    if kind.name != name:
        raise InputError(f"kind {name!r}: it calls itself {kind.name!r}; register it under that name")
    if name in BUILT_IN:
        return
    for each in (name, *(column.name for column in kind.columns)):
        if not _NAME.fullmatch(each) or each in _RESERVED:
            raise InputError(
                f"kind {name!r}: {each!r} cannot be the name of a kind or column; use up to 40 of a-z, 0-9 and _, and none of ours"
            )
        if each != name and not each.startswith(f"{name}_"):
            raise InputError(f"kind {name!r}: its column {each!r} must be called {name!r}, or {name + '_…'!r}")


def kind_names() -> list[str]:
    """Of all kinds: ours first, then those of plug-ins."""
    return [*BUILT_IN, *(name for name in kinds if name not in BUILT_IN)]


def known_kinds() -> Iterator[Kind]:
    """All kinds, each imported when it is its turn; plug-ins last."""
    for name in BUILT_IN:
        yield kind_named(name)
    for name in kinds:
        if name not in BUILT_IN:
            yield kind_named(name)


def column_named(name: str) -> Column:
    """A column of documents: the text, or what one of the kinds keeps."""
    if name not in _columns:
        from lookalike.stores.kinds.columns import TEXT

        found = (column for kind in known_kinds() for column in kind.columns if column.name == name)
        _columns[name] = TEXT if name == "text" else next(found)
    return _columns[name]


def all_ways() -> list[Way]:
    """All ways of searching, in the order in which they are shown."""
    return sorted((way for kind in known_kinds() for way in kind.ways), key=lambda way: way.place)


def way_names(*, of_texts: bool = False, of_clusters: bool = False) -> list[str]:
    return [way.name for way in all_ways() if (way.takes == "text" or not of_texts) and (way.clusters_are_made or not of_clusters)]


def way_named(name: object) -> Way:
    """The way of searching with this name; plug-ins are looked at only where it is none of ours."""
    if name == "near":  # what nearly every search asks for
        return kind_named("minhash").ways[0]
    if isinstance(name, str) and name in _ways:
        kind_name, kind, way = _ways[name]
        if kind_named(kind_name) is kind:
            return way
    for kind in known_kinds():
        for way in kind.ways:
            if way.name == name:
                _ways[name] = kind.name, kind, way
                return way
    raise InputError(f"by={name!r}: choose one of {', '.join(way_names())}")
