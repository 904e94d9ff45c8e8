"""Draft and final as they come in: records from anywhere become pairs, or problems with a name and a place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from lookalike import _native
from lookalike.checks import check_str
from lookalike.comparison.sides import PIECES
from lookalike.corpus.columns import NamedColumns, unless_default
from lookalike.corpus.contents import readable
from lookalike.corpus.row import Problem, Row
from lookalike.errors import InputError
from lookalike.text.normalize import utf8

MAX_SIDE_BYTES = 10 << 20  # what the alignment was made for; a larger side is skipped and named
MAX_IDS = 1_000_000  # ids remembered to find duplicates: a bound on memory
MAX_VALUE = 200  # characters of a value to group by; a longer one is cut, and a digest keeps it distinct
GROUP_COLUMNS = ("model", "prompt", "author")

_WORD = re.compile(r"\w")


class DraftPair(NamedTuple):
    place: str
    id: str
    draft: str
    final: str
    time: date | None
    groups: dict[str, str | None]


@dataclass(frozen=True, slots=True)
class PairColumns:
    """Which column holds what. ``groups`` are carried into the rows; columns other than draft and final may be absent."""

    draft: str = "draft"
    final: str = "final"
    id: str = "id"
    time: str = "time"
    groups: tuple[str, ...] = GROUP_COLUMNS

    def __post_init__(self) -> None:
        for role in ("draft", "final", "id", "time"):
            check_str(f"{role}_column", getattr(self, role), "the name of a column")

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys((self.draft, self.final, self.id, self.time, *self.groups)))

    def check_header(self, header: Iterable[str], name: str) -> None:
        """A table without these two columns holds no pairs at all."""
        present = list(header)
        for role in ("draft", "final"):
            column = getattr(self, role)
            if column not in present:
                shown = ", ".join(map(repr, present[:20])) or "none"
                raise InputError(f"{name} has no column {column!r}: name it with {role}_column; its columns are {shown}")


class PairReader:
    """Makes pairs of records. Remembers ids, and which group columns were seen."""

    def __init__(self, columns: PairColumns, max_bytes: int = MAX_SIDE_BYTES, by: Iterable[str] = ()) -> None:
        self.columns = columns
        # A column that the caller named must be there; time and id may be absent under the names they have by default.
        default = PairColumns()
        self.named = NamedColumns(
            {
                f"draft_column={columns.draft!r}": columns.draft,
                f"final_column={columns.final!r}": columns.final,
                f"id_column={columns.id!r}": unless_default(columns.id, default.id),
                f"time_column={columns.time!r}": unless_default(columns.time, default.time),
                **{f"by={name!r}": name for name in by},
            }
        )
        self.max_bytes = max_bytes
        self.seen_columns: set[str] = set()
        self._ids: set[int] = set()

    def check_header(self, header: Iterable[str], name: str) -> None:
        """The columns of a table, before its rows."""
        names = list(header)
        for column in self.columns.names:
            if (count := names.count(column)) > 1:
                raise InputError(f"{name}: {count} columns are called {column!r}: rename all but one")
        self.columns.check_header(names, name)
        self.named.see(names)
        self.named.check()

    def read(self, records: Iterable[Row | Problem]) -> Iterator[DraftPair | Problem]:
        for record in records:
            if isinstance(record, Problem):
                yield record
            else:
                yield from self._pair(record)

    def _pair(self, record: Row) -> Iterator[DraftPair | Problem]:
        value = record.values
        if isinstance(value, (tuple, list)) and len(value) == 2:
            value = {self.columns.draft: value[0], self.columns.final: value[1]}
        if not isinstance(value, Mapping):
            yield Problem("not a pair", record.place, f"of type {type(value).__name__}: expected an object with draft and final")
            return
        if self.named.missing:
            self.named.see(value)
        try:
            value = self._read_files(value)
        except InputError as error:
            yield Problem("unreadable file", record.place, str(error))
            return
        problem = self._side_problem(record.place, value)
        if problem:
            yield problem
            return
        yield from self._id_problem(record, value)
        time = _as_date(value.get(self.columns.time))
        if isinstance(time, str):
            yield Problem("unreadable time", record.place, f"{self.columns.time}={time}: expected ISO 8601; left out of the trend", False)
            time = None
        final = value[self.columns.final]
        if not has_words(final):
            yield Problem("empty final", record.place, "the final text is empty: counted as discarded", False)
        groups = {name: _group_value(value.get(name)) for name in self.columns.groups}
        self.seen_columns.update(name for name in self.columns.groups if name in value)
        given = value.get(self.columns.id)
        pair_id = str(record.number) if is_null(given) else _group_value(given) or ""
        yield DraftPair(record.place, pair_id, value[self.columns.draft], final, time, groups)

    def _read_files(self, value: Mapping[str, Any]) -> Mapping[str, Any]:
        """The pair with the texts of its files, where a side is a ``Path``."""
        files = {name: value[name] for name in (self.columns.draft, self.columns.final) if isinstance(value.get(name), Path)}
        return {**value, **{name: readable(path).text() for name, path in files.items()}} if files else value

    def _side_problem(self, place: str, value: Mapping[str, Any]) -> Problem | None:
        for role in ("draft", "final"):
            column = getattr(self.columns, role)
            if column not in value:
                shown = ", ".join(repr(str(key)[:40]) for key in list(value)[:8]) or "none"
                return Problem(f"missing {role}", place, f"no {column!r}; the columns here are {shown}")
            text = value[column]
            if is_null(text):
                return Problem(f"null {role}", place, f"{column!r} is null")
            if not isinstance(text, str):
                return Problem(f"{role} is not text", place, f"{column!r} is of type {type(text).__name__}: expected text")
            if _bytes(text, self.max_bytes) > self.max_bytes:
                return Problem(f"{role} too large", place, f"{column!r} has more than {self.max_bytes:,} bytes")
        if not has_words(value[self.columns.draft]):
            return Problem("empty draft", place, f"{self.columns.draft!r} is empty: nothing could be used")
        return None

    def _id_problem(self, record: Row, value: Mapping[str, Any]) -> Iterator[Problem]:
        given = value.get(self.columns.id)
        if is_null(given):
            return
        key = hash(str(given))
        if key in self._ids:
            yield Problem("duplicate id", record.place, f"{self.columns.id}={str(given)[:80]!r} was there before; both pairs count", False)
        elif len(self._ids) < MAX_IDS:
            self._ids.add(key)


def has_words(text: str) -> bool:
    """Whether a text has a word or a mark: white space and invisible characters are nothing that could be edited."""
    return bool(_WORD.search(text)) or len(_native.token_stream(utf8(text), PIECES, False)[0]) > 0


def is_null(value: object) -> bool:
    """None, and the NaN, NaT and NA with which data frames say that a cell is empty."""
    return value is None or type(value).__name__ in ("NaTType", "NAType") or (isinstance(value, float) and value != value)


def _bytes(text: str, limit: int) -> int:
    return len(text) if 4 * len(text) <= limit or len(text) > limit else len(utf8(text))


def _as_date(value: Any) -> date | str | None:
    """The calendar day, in the time zone that was written down; a str is what could not be read."""
    if is_null(value) or value == "":
        return None
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value.strip()).date()
        except ValueError:
            pass
    return repr(value)[:80]


def _group_value(value: Any) -> str | None:
    if is_null(value):
        return None
    text = value if isinstance(value, str) else _plain(value)
    if len(text) <= MAX_VALUE:
        return text
    return f"{text[:MAX_VALUE]}… {blake2b(utf8(text), digest_size=4).hexdigest()}"


def _plain(value: Any) -> str:
    if isinstance(value, (Mapping, list, tuple, bool)):
        return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    return str(value)
