"""Pairs of texts with a label: whether somebody found them alike."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from lookalike.checks import check_several
from lookalike.corpus.files import Source
from lookalike.corpus.row import Problem, Row
from lookalike.corpus.rows import rows, stream_rows
from lookalike.errors import InputError
from lookalike.figures import shown_value

_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
WANTED = "a list of (left, right, label), or of mappings"


class LabelledPair(NamedTuple):
    left: str
    right: str
    label: bool


def labelled_pairs(source: Any, columns: tuple[str, ...], positive: float | None, encoding: str) -> list[LabelledPair]:
    """The pairs of a file or an iterable; at least one of each label."""
    if positive is not None and not _is_number(positive):
        raise InputError(f"positive={shown_value(positive)}: give a number, the lowest label that counts as alike")
    found = [_pair(place, value, columns, positive) for place, value in _records(source, columns, encoding)]
    if len({pair.label for pair in found}) < 2:
        raise InputError(f"{len(found):,} pairs, all with the same label: give some that are alike and some that are not")
    return found


def _is_number(value: object) -> bool:
    try:
        return not isinstance(value, bool) and isinstance(value, numbers.Real) and math.isfinite(value)
    except OverflowError:  # a whole number that no float can hold
        return False


def _records(source: Any, columns: tuple[str, ...], encoding: str) -> Iterator[tuple[str, Any]]:
    if hasattr(source, "read"):
        yield from _placed(stream_rows(source, "standard input", "jsonl", columns=columns, encoding=encoding, objects=False))
        return
    if not isinstance(source, Path):
        yield from ((f"pair {number}", value) for number, value in enumerate(check_several("pairs", source, WANTED), 1))
        return
    file = Source.of(source)
    if not file.is_table:
        raise InputError(f"{str(source)!r}: give JSON lines, CSV or Parquet with two texts and a label per row")
    yield from _placed(rows(file, columns=columns, encoding=encoding, objects=False))


def _placed(found: Iterable[Row | Problem]) -> Iterator[tuple[str, Any]]:
    for row in found:
        if isinstance(row, Problem):
            raise InputError(f"{row.place}: {row.message}")
        yield row.place, row.values


def _pair(place: str, value: Any, columns: Iterable[str], positive: float | None) -> LabelledPair:
    if isinstance(value, Mapping):
        if missing := [name for name in columns if name not in value]:
            raise InputError(f"{place} has no {missing[0]!r}: give {WANTED}, or name the columns")
        value = [value[name] for name in columns]
    if not isinstance(value, tuple | list) or len(value) != 3:
        raise InputError(f"{place} is {shown_value(value)}: give {WANTED}")
    left, right, label = value
    if not (isinstance(left, str) and isinstance(right, str)):
        raise InputError(f"{place}: both sides must be texts (str)")
    return LabelledPair(left, right, _is_alike(place, label, positive))


def _is_alike(place: str, label: Any, positive: float | None) -> bool:
    if isinstance(label, str) and positive is None:
        label = _WORDS.get(label.strip().lower(), label)
    if isinstance(label, str):
        try:
            label = float(label)
        except ValueError:
            raise InputError(f"{place}: label {shown_value(label)} is neither true nor false, nor a number") from None
    if not isinstance(label, bool) and not _is_number(label):
        raise InputError(f"{place}: label {shown_value(label)}: give true or false, 1 or 0")
    if positive is None and label not in (0, 1):
        raise InputError(f"{place}: label {shown_value(label)} is a grade: say with positive= from which one on pairs are alike")
    return float(label) >= (1 if positive is None else positive)
