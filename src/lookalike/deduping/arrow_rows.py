"""Arrow tables and Parquet files: texts are read where they lie, and rows keep their columns and types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

from lookalike import _native
from lookalike.corpus.arrow_values import values_of
from lookalike.corpus.files import Source
from lookalike.corpus.row import Problem
from lookalike.deduping.batches import Batch, Columns, Report
from lookalike.deduping.ledger import packed_ids
from lookalike.deduping.lines import MAX_ROW_BYTES
from lookalike.deduping.problems import UNREADABLE
from lookalike.deduping.ranks import ranks_of
from lookalike.deduping.row_files import check_header
from lookalike.deduping.value_rows import id_json
from lookalike.deduping.verdicts import DocumentVerdicts, Edits
from lookalike.errors import InputError, MissingExtra
from lookalike.text.columns import Packed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ROWS = 4096
GROUP_ROWS = 1 << 16


def arrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtra.for_extra("reading Parquet", "parquet") from error
    return pa, pq


class ParquetFile:
    """The rows of one Parquet file."""

    def __init__(self, source: Source, columns: Columns) -> None:
        if source.packing:
            raise InputError(f"{source.name}: a Parquet file is compressed inside: unpack the file")
        self.source, self.columns = source, columns

    size = None

    @property
    def name(self) -> str:
        return self.source.name

    def batches(self, report: Report, start: tuple[int, int] = (0, 1)) -> Iterator[Batch]:
        pa, _ = arrow()
        number = 0
        try:
            file = open_parquet(self.source)
            names = list(file.schema_arrow.names)
            check_header(names, self.columns, self.name)
            _check_text(file.schema_arrow.field(self.columns.text).type, self.columns.text, self.name)
            wanted = [name for name in dict.fromkeys((self.columns.text, self.columns.id, self.columns.rank)) if name in names]
            batches = file.iter_batches(batch_size=ROWS, columns=wanted)
        except (pa.ArrowException, OSError, InputError) as error:
            report(Problem(UNREADABLE, self.name, str(error).removeprefix(f"{self.name}: ")))
            return
        while True:
            try:
                piece = next(batches, None)
            except (pa.ArrowException, OSError) as error:
                report(Problem("damaged file", f"{self.name}:{number + 1}", f"the data are damaged here ({str(error)[:200]})"))
                return
            if piece is None:
                return
            batch = arrow_batch(piece, self.columns, number, self.name, report)
            number += len(piece)
            if len(batch):
                yield batch


def open_parquet(source: Source) -> Any:
    _, pq = arrow()
    if source.path is None:
        raise InputError("Parquet cannot be read from standard input: name the file")
    return pq.ParquetFile(source.path)


def arrow_batch(piece: Any, columns: Columns, before: int, name: str, report: Report) -> Batch:
    """A record batch (or table) as documents. ``before`` is how many rows came before it."""
    import numpy as np

    def place(i: int) -> str:
        return f"{name}:{before + i + 1}" if name else f"row {before + i}"

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
    packed = _packed(text if wanted.all() else text.filter(_mask(wanted)))
    for i in np.flatnonzero(np.diff(packed.offsets) > MAX_ROW_BYTES).tolist():
        raise InputError(f"{place(int(np.flatnonzero(wanted)[i]))}: a text of more than {MAX_ROW_BYTES:,} bytes: split it")
    rows = np.arange(before + 1, before + 1 + len(piece), dtype=np.int64)
    return Batch(
        rows=rows[usable],
        texts=packed,
        has_text=None if has_text[usable].all() else has_text[usable],
        ids=packed_ids([token for token, good in zip(tokens, usable.tolist(), strict=True) if good]) if any(tokens) else None,
        ranks=ranks[wanted] if ranks is not None else None,
    )


def _mask(values: NDArray[np.bool_]) -> Any:
    pa, _ = arrow()
    return pa.array(values)


def _as_text(column: Any, name: str, file: str) -> Any:
    """A column as one array of large strings, nulls left in."""
    pa, _ = arrow()
    chunks = getattr(column, "chunks", None)
    if chunks is not None:
        column = chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks) if chunks else pa.array([], pa.large_string())
    _check_text(column.type, name, file)
    return column.cast(pa.large_string())


def _check_text(kind: Any, name: str, file: str) -> None:
    pa, _ = arrow()
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    if not (pa.types.is_null(kind) or pa.types.is_string(plain) or pa.types.is_large_string(plain) or str(plain) == "string_view"):
        where = f"{file}: " if file else ""
        raise InputError(f"{where}column {name!r} holds {kind}: name the column of the text, or cast it to string")


def _packed(text: Any) -> Packed:
    import numpy as np

    if not len(text):
        return Packed(b"", np.zeros(1, np.int64))
    if text.null_count:
        return Packed(*map(np.asarray, _native.pack_strings(text.drop_null().to_pylist())))
    _, offsets, data = text.buffers()
    places = np.frombuffer(offsets, dtype=np.int64)[text.offset : text.offset + len(text) + 1]
    return Packed(np.frombuffer(data, dtype=np.uint8) if data is not None else b"", np.ascontiguousarray(places))


def taken(table: Any, rows: NDArray[np.int64]) -> Any:
    """Some rows of a table. Arrow cannot take string views: they go through strings."""
    pa, _ = arrow()
    plain = {"string_view": pa.large_string(), "binary_view": pa.large_binary()}
    schema = table.schema
    for place, column in enumerate(table.schema):
        schema = schema.set(place, column.with_type(plain.get(str(column.type), column.type)))
    return table.take(rows) if schema.equals(table.schema) else table.cast(schema).take(rows).cast(table.schema)


def write_parquet(sources: list[tuple[int, Source]], out: IO[bytes], verdicts: DocumentVerdicts, annotate: bool) -> None:
    """The rows of some files that stay, in one file; they must have the same columns."""
    pa, pq = arrow()
    writer, schema, first = None, None, ""
    try:
        for reader, source in sources:
            file = open_parquet(source)
            if writer is None:
                schema, first = file.schema_arrow, source.name
                writer = pq.ParquetWriter(out, _annotated_schema(schema, pa) if annotate else schema, compression=_compression(file))
            elif not file.schema_arrow.equals(schema):
                raise InputError(f"{source.name} has other columns or types than {first}: write them to a folder, or make them the same")
            for rows in _together(_kept_batches(file, source.name, reader, verdicts, annotate), pa):
                writer.write_table(rows)
    finally:
        if writer is not None:
            writer.close()


def _compression(file: Any) -> str:
    meta = file.metadata
    found = meta.row_group(0).column(0).compression if meta.num_row_groups and meta.num_columns else "ZSTD"
    return "NONE" if found == "UNCOMPRESSED" else str(found)


def _together(batches: Iterator[Any], pa: Any) -> Iterator[Any]:
    """Batches as tables of a size that makes good row groups."""
    held: list[Any] = []
    for batch in batches:
        held.append(batch)
        if sum(map(len, held)) >= GROUP_ROWS:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)


def _kept_batches(file: Any, name: str, reader: int, verdicts: DocumentVerdicts, annotate: bool) -> Iterator[Any]:
    """The rows that stay. They are read as the first time, and no further: there may be damage behind them."""
    import numpy as np

    span = verdicts.ledger.span(reader)
    rows = verdicts.ledger.rows()[span]
    written = np.zeros(file.metadata.num_rows, dtype=np.bool_)
    numbers = np.zeros(file.metadata.num_rows, dtype=np.int64)
    written[rows - 1] = True if annotate else verdicts.kept_of(reader)
    numbers[rows - 1] = np.arange(span.start, span.stop)
    at, last = 0, int(np.flatnonzero(written)[-1]) if written.any() else -1
    batches = file.iter_batches(batch_size=ROWS)
    while at <= last:
        batch = _next_batch(batches, name, at)
        wanted = written[at : at + len(batch)]
        kept = batch if wanted.all() else batch.filter(_mask(wanted))
        if verdicts.edits:
            kept = edited(kept, numbers[at : at + len(batch)][wanted].tolist(), verdicts.edits)
        if annotate:
            kept = annotated(kept, numbers[at : at + len(batch)][wanted].tolist(), verdicts)
        at += len(batch)
        if len(kept):
            yield kept


def _next_batch(batches: Iterator[Any], name: str, at: int) -> Any:
    pa, _ = arrow()
    try:
        return next(batches)
    except StopIteration as error:
        raise InputError(f"{name!r} was changed while it was read: run again") from error
    except (pa.ArrowException, OSError) as error:  # in a column that was not looked at before
        raise InputError(f"{name}: row {at + 1}: a column cannot be read ({str(error)[:200]}): repair or leave out the file") from error


def edited(batch: Any, documents: list[int], edits: Edits) -> Any:
    """A batch or table with shorter texts."""
    pa, _ = arrow()
    place = batch.schema.get_field_index(edits.column)
    texts = batch.column(place).to_pylist()
    cut = [text if text is None else edits.edited(document, text) for document, text in zip(documents, texts, strict=True)]
    kind = batch.schema.field(place)
    return batch.set_column(place, kind, pa.array(cut, pa.large_string()).cast(kind.type))


def annotated(batch: Any, documents: list[int], verdicts: DocumentVerdicts) -> Any:
    """A batch or table with the columns of the verdicts behind its own. Ids are text: they may be of any kind."""
    pa, _ = arrow()
    found = [verdicts.annotation(document) for document in documents]
    for name, kind in _annotation_types(pa).items():
        values = [_text_id(each[name]) if name == "kept_id" else each[name] for each in found]
        batch = batch.append_column(pa.field(name, kind), pa.array(values, kind))
    return batch


def _text_id(value: Any) -> str:
    return value if isinstance(value, str) else str(value)


def _annotation_types(pa: Any) -> dict[str, Any]:
    return {"cluster": pa.int64(), "kept": pa.bool_(), "kept_id": pa.string(), "similarity": pa.float64()}


def _annotated_schema(schema: Any, pa: Any) -> Any:
    for name, kind in _annotation_types(pa).items():
        schema = schema.append(pa.field(name, kind))
    return schema
