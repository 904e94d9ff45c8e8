"""The formats of files. Each is an object in a file of its own; whoever reads or writes files finds it in this table.

A format is listed by what its files are called and where it is: it is imported when it is used.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Literal, NamedTuple

from lookalike.files.kinds import ENDINGS

if TYPE_CHECKING:
    from lookalike.corpus.formats.base import Format

Shape = Literal["table", "archive", "document"]
"""What a file holds: rows with columns, many documents without columns, or one document."""


class Listed(NamedTuple):
    name: str
    endings: tuple[str, ...]  # of files, in small letters and with the dot; .gz and .zst may follow
    place: str  # "module:object"
    shape: Shape


_LISTED: dict[str, Listed] = {}
TEXT = "text"  # what every file is whose name says nothing else


def register(name: str, endings: tuple[str, ...], place: str, shape: Shape = "table") -> None:
    """Adds a format to the table; one of the same name is replaced."""
    _LISTED[name] = Listed(name, endings, place, shape)
    format_named.cache_clear()


def names(*shapes: Shape) -> tuple[str, ...]:
    """The names of all formats, or of those of some shapes."""
    return tuple(name for name, listed in _LISTED.items() if not shapes or listed.shape in shapes)


def shape_of(name: str) -> Shape:
    return _LISTED[name].shape


def name_by_ending(ending: str) -> str:
    """The format that files with an ending have; text where it says nothing."""
    return next((name for name, listed in _LISTED.items() if ending in listed.endings), TEXT)


def is_known(ending: str) -> bool:
    return any(ending in listed.endings for listed in _LISTED.values())


@cache
def format_named(name: str) -> Format:
    """The format itself."""
    module, _, attribute = _LISTED[name].place.partition(":")
    found: Format = getattr(import_module(module), attribute)
    return found


register("jsonl", (".jsonl", ".ndjson"), "lookalike.corpus.formats.jsonl:JSONL")
register("json", (".json",), "lookalike.corpus.formats.json:JSON")
register("csv", (".csv",), "lookalike.corpus.formats.separated:CSV")
register("tsv", (".tsv",), "lookalike.corpus.formats.separated:TSV")
register("parquet", (".parquet", ".pq"), "lookalike.corpus.formats.parquet:PARQUET")
# Data wherever they lie; README.md and LICENSE beside tables are about the data, and are text all the same.
register(TEXT, (".txt", ".text", *ENDINGS), "lookalike.corpus.formats.text:TEXT", "document")
register("html", (".html", ".htm", ".xhtml"), "lookalike.corpus.formats.html:HTML", "document")
register("warc", (".warc",), "lookalike.corpus.formats.warc:WARC", "archive")
