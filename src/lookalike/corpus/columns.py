"""Columns that the caller named: one that no row has is a typing error, and nothing is done on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lookalike.corpus.files import Source
from lookalike.corpus.formats import format_named
from lookalike.corpus.rows import Row, rows
from lookalike.errors import InputError

SHOWN = 20


class NamedColumns:
    """Watches rows go by until each of the columns was seen."""

    def __init__(self, wanted: Mapping[str, str | None]) -> None:
        """``wanted`` are columns by what the caller wrote, for the message; None where the column may be absent."""
        self._missing = {said: column for said, column in wanted.items() if column is not None}
        self._names: dict[str, None] = {}

    @property
    def missing(self) -> bool:
        return bool(self._missing)

    def see(self, names: Iterable[object]) -> None:
        """The columns of a row, or of a whole table."""
        found = {str(name): None for name in names}
        self._names.update(found if len(self._names) <= SHOWN else {})
        self._missing = {said: column for said, column in self._missing.items() if column not in found}

    def read(self, sources: Iterable[Source], encoding: str = "utf-8") -> None:
        """Looks into files until everything was seen. What is wrong with a file is said by those who read it for its contents."""
        for source in sources:
            if not self._missing:
                return
            if source.is_table and can_be_read_twice(source):
                self._read(source, encoding)

    def _read(self, source: Source, encoding: str) -> None:
        try:
            for row in rows(source, header=self.see, encoding=encoding):
                if isinstance(row, Row):
                    self.see(row.values)
                if not self._missing or format_named(source.format).has_header:  # which says everything
                    return
        except InputError:
            return

    def check(self) -> None:
        """An ``InputError`` if there were columns, and a wanted one was never among them."""
        if self._missing and self._names:
            said, column = next(iter(self._missing.items()))
            names = list(self._names)
            shown = ", ".join(repr(name[:40]) for name in names[:SHOWN]) + (" …" if len(names) > SHOWN else "")
            option = "--" + said.partition("=")[0].replace("_", "-")
            raise InputError(f"{said}: no row has a column {column!r}; the columns are {shown}: choose one of them ({option})")


def can_be_read_twice(source: Source) -> bool:
    """Not a pipe; nor packed Parquet, which has to be unpacked whole for its header."""
    return source.path is not None and source.path.is_file() and not (source.packing and format_named(source.format).begins_at_end)


def unless_default(column: str, default: str) -> str | None:
    """A column that may be absent under the name it has by default, and must be there under any other."""
    return None if column == default else column
