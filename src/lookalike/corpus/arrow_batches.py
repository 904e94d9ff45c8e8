"""Columns of Arrow as batches of documents: texts are read where they lie."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.corpus.arrow_values import arrow, values_of
from lookalike.corpus.batches import MAX_ROW_BYTES, Batch, Columns, Ids, Report, join_texts
from lookalike.corpus.formats.base import Cuts
from lookalike.corpus.joined import Joined
from lookalike.corpus.ranks import ranks_of
from lookalike.corpus.row import Problem, Row
from lookalike.corpus.value_batches import CollectedRows, id_json
from lookalike.errors import InputError

ROWS = 4096


def arrow_batch(piece: Any, columns: Columns, before: int, name: str, report: Report) -> Batch:
    """A record batch (or table) as documents. ``before`` is how many rows came before it."""

    def place(i: int) -> str:
        return f"{name}:{before + i + 1}" if name else f"row {before + i}"

    if columns.fields is not None:
        collected = CollectedRows(columns, False)
        for i, values in enumerate(piece.to_pylist()):
            if problem := collected.add(Row(place(i), before + i + 1, values)):
                report(problem)
        return collected.batch()
    text = _as_text(piece.column(columns.text), columns.text, name)
    usable = np.ones(len(piece), dtype=np.bool_)
    has_text = ~np.asarray(text.is_null()) if text.null_count else np.ones(len(piece), dtype=np.bool_)
    tokens: list[bytes] = []
    if columns.id in piece.schema.names:
        for i, value in enumerate(values_of(piece.column(columns.id))):
            token = id_json(value)
            if token is None:
                report(Problem("unusable id", place(i), f"{columns.id!r} is {value!r:.60}: expected text or a number"))
                usable[i] = False
            tokens.append(token or b"")
    ranks: NDArray[np.float64] | None = None
    if columns.rank:
        ranks, ranked = ranks_of(values_of(piece.column(columns.rank)), columns.rank, columns.rank_kind, place, report)
        usable &= ranked
    wanted = usable & has_text
    joined = _joined(text if wanted.all() else text.filter(mask(wanted)))
    for i in np.flatnonzero(np.diff(joined.offsets) > MAX_ROW_BYTES).tolist():
        raise InputError(f"{place(int(np.flatnonzero(wanted)[i]))}: a text of more than {MAX_ROW_BYTES:,} bytes: split it")
    rows = np.arange(before + 1, before + 1 + len(piece), dtype=np.int64)
    return Batch(
        rows=rows[usable],
        texts=joined,
        has_text=None if has_text[usable].all() else has_text[usable],
        ids=Ids.of([token for token, good in zip(tokens, usable.tolist(), strict=True) if good]) if any(tokens) else None,
        ranks=ranks[wanted] if ranks is not None else None,
    )


def mask(values: NDArray[np.bool_]) -> Any:
    return arrow().array(values)


def _as_text(column: Any, name: str, file: str) -> Any:
    """A column as one array of large strings, nulls left in."""
    pa = arrow()
    chunks = getattr(column, "chunks", None)
    if chunks is not None:
        column = chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks) if chunks else pa.array([], pa.large_string())
    check_text(column.type, name, file)
    return column.cast(pa.large_string())


def check_text(kind: Any, name: str, file: str) -> None:
    pa = arrow()
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    if not (pa.types.is_null(kind) or pa.types.is_string(plain) or pa.types.is_large_string(plain) or str(plain) == "string_view"):
        where = f"{file}: " if file else ""
        raise InputError(f"{where}column {name!r} holds {kind}: name the column of the text, or cast it to string")


def _joined(text: Any) -> Joined:
    if not len(text):
        return Joined(b"", np.zeros(1, np.int64))
    if text.null_count:
        return join_texts(text.drop_null().to_pylist())
    _, offsets, data = text.buffers()
    places = np.frombuffer(offsets, dtype=np.int64)[text.offset : text.offset + len(text) + 1]
    return Joined(np.frombuffer(data, dtype=np.uint8) if data is not None else b"", np.ascontiguousarray(places))


def taken(table: Any, rows: NDArray[np.int64]) -> Any:
    """Some rows of a table. Arrow cannot take string views: they go through strings."""
    pa = arrow()
    plain = {"string_view": pa.large_string(), "binary_view": pa.large_binary()}
    schema = table.schema
    for place, column in enumerate(table.schema):
        schema = schema.set(place, column.with_type(plain.get(str(column.type), column.type)))
    return table.take(rows) if schema.equals(table.schema) else table.cast(schema).take(rows).cast(table.schema)


def edited(batch: Any, documents: list[int], edits: Cuts) -> Any:
    """A batch or table with shorter texts."""
    pa = arrow()
    place = batch.schema.get_field_index(edits.column)
    texts = batch.column(place).to_pylist()
    cut = [text if text is None else edits.edited(document, text) for document, text in zip(documents, texts, strict=True)]
    kind = batch.schema.field(place)
    return batch.set_column(place, kind, pa.array(cut, pa.large_string()).cast(kind.type))
