"""Rows that come one by one as values, in batches: of CSV and JSON files, texts, web archives, and lists of mappings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from lookalike.checks import is_number
from lookalike.corpus.batches import MAX_ROW_BYTES, Batch, Columns, Ids, Report, join_texts
from lookalike.corpus.ranks import rank_of
from lookalike.corpus.row import Problem, Row
from lookalike.errors import InputError

ROWS = 1024
CHARACTERS = 1 << 20


def id_json(value: Any) -> bytes | None:
    """An id as JSON; empty where there is none, None where it cannot be one."""
    if value is None or value == "":
        return b""
    if not isinstance(value, str) and not is_number(value):
        return None
    return json.dumps(value).encode()


def value_batches(rows: Iterable[Row | Problem], columns: Columns, report: Report, *, ids_may_repeat: bool = False) -> Iterator[Batch]:
    collected = CollectedRows(columns, ids_may_repeat)
    for row in rows:
        if isinstance(row, Problem):
            report(row)
        elif problem := collected.add(row):
            report(problem)
        if len(collected.rows) >= ROWS or collected.characters >= CHARACTERS:
            yield collected.batch()
            collected = CollectedRows(columns, ids_may_repeat)
    if collected.rows:
        yield collected.batch()


class CollectedRows:
    """The rows of a batch, one by one."""

    def __init__(self, columns: Columns, ids_may_repeat: bool) -> None:
        self.columns, self.ids_may_repeat = columns, ids_may_repeat
        self.rows: list[int] = []
        self.names: list[str] = []  # of files that are documents
        self.texts: list[str | None] = []
        self.ids: list[bytes] = []
        self.ranks: list[float] = []
        self.characters = 0

    def add(self, row: Row) -> Problem | None:
        """Takes a row, or says why not."""
        values: Mapping[str, Any] = row.values
        columns = self.columns
        text: Any
        if columns.fields is not None:
            try:
                text = json.dumps(found) if (found := columns.record(values)) else None
            except RecursionError:
                return Problem("unusable columns", row.place, "a value is nested too deep to be compared")
            except InputError as error:
                return Problem("unusable columns", row.place, str(error))
        elif columns.text not in values:
            return Problem("no text", row.place, f"no column {columns.text!r}: name the column of the text")
        else:
            text = values[columns.text]
        if text is not None and not isinstance(text, str):
            return Problem("wrong type", row.place, f"{columns.text!r} is of type {type(text).__name__}: expected text")
        if text is not None and len(text) > MAX_ROW_BYTES:
            return Problem("text too long", row.place, f"{columns.text!r} has more than {MAX_ROW_BYTES:,} characters")
        token = id_json(values.get(columns.id))
        if token is None:
            return Problem("unusable id", row.place, f"{columns.id!r} is {values[columns.id]!r:.60}: expected text or a number")
        if taken := next((name for name in columns.reserved if name in values), None):
            raise InputError(f"{row.place}: there is a column {taken!r} already, which annotate adds: rename it")
        rank = 0.0
        if columns.rank:
            try:
                rank = rank_of(values.get(columns.rank), columns.rank_kind)
            except (ValueError, OverflowError):
                shown = f"{columns.rank!r} is {values[columns.rank]!r:.60}"
                return Problem("wrong type", row.place, f"{shown}: keep={columns.rank_kind}:{columns.rank} cannot order by it")
        self.rows.append(row.number)
        self.names += [] if row.number else [row.place]
        self.texts.append(text)
        self.ids.append(token)
        if text is not None:
            self.ranks.append(rank)
            self.characters += len(text)
        return None

    def batch(self) -> Batch:
        texts = [text for text in self.texts if text is not None]
        return Batch(
            rows=np.array(self.rows, np.int64),
            texts=join_texts(texts),
            has_text=None if len(texts) == len(self.texts) else np.array([text is not None for text in self.texts]),
            ids=Ids.of(self.ids, self.ids_may_repeat) if any(self.ids) else None,
            ranks=np.array(self.ranks, np.float64) if self.columns.rank else None,
            names=self.names or None,
        )
