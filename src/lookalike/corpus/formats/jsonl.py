"""JSON lines: rows are found natively, and written as the bytes they came in."""

from __future__ import annotations

import io
import itertools
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.corpus import batches, row
from lookalike.corpus.batches import Batch, Columns, Ids, Lines, Part, Report
from lookalike.corpus.files import Source
from lookalike.corpus.formats.base import Cuts, FileReader, Format, Kept, RowWriter, Wanted
from lookalike.corpus.formats.json import Line, encoded, numbered_lines, parsed
from lookalike.corpus.formats.lines import Block, Buffers, line_blocks, too_long
from lookalike.corpus.packed import Packed
from lookalike.corpus.ranks import ranks_of
from lookalike.corpus.row import Problem, Row
from lookalike.corpus.rows import is_utf8
from lookalike.corpus.streams import opened, opened_again, packed
from lookalike.corpus.value_batches import Collected
from lookalike.corpus.values import plain
from lookalike.errors import InputError
from lookalike.io import open_file
from lookalike.system import copy_range

CHUNK = 1 << 22
ROWS_BLOCK = 1 << 16  # bytes that are made rows at once: somebody may want no more than the first one
_BEGINS_ID = np.zeros(256, np.bool_)
_BEGINS_ID[list(b'"-0123456789')] = True
_BROKEN, _NO_OBJECT, _NO_COLUMN, _NO_TEXT = 1, 2, 3, 4


class JsonLines(Format):
    def rows(self, file: IO[bytes], name: str, wanted: Wanted) -> Iterator[Row | Problem]:
        if is_utf8(wanted.encoding):
            for block in line_blocks(file, name, row.MAX_LINE_BYTES, size=ROWS_BLOCK):
                yield from [block] if isinstance(block, Problem) else _block_rows(block, name, wanted)
        else:
            for line in numbered_lines(file, name):
                yield parsed(line, wanted.encoding or "utf-8", wanted.objects)

    def batches(self, reader: FileReader, report: Report, start: tuple[int, int]) -> Iterator[Batch]:
        if not is_utf8(reader.encoding):
            yield from super().batches(reader, report, start)
            return
        for part in self.parts(reader, report, start):
            batch = part.make(report)
            if batch.lines:
                batch.lines.let_go()
            batch.lines = None
            if len(batch):
                yield batch

    def parts(self, reader: FileReader, report: Report, start: tuple[int, int]) -> Iterator[Part]:
        """The blocks are found one after the other, and scanned side by side."""
        if not is_utf8(reader.encoding):
            yield from super().parts(reader, report, start)
            return
        scan = _Scan(reader.source, reader.columns).batch if reader.columns.fields is None else partial(_record_batch, reader)
        buffers = Buffers()
        with opened(reader.source) as file:
            for block in line_blocks(file, reader.name, batches.MAX_ROW_BYTES, start, buffers=buffers):
                if isinstance(block, Problem):
                    report(block)
                else:
                    yield Part(len(block.data), partial(_scanned, scan, buffers, block))

    def size(self, source: Source) -> int | None:
        return source.path.stat().st_size if source.path and not source.packing else None

    def write(self, parts: Sequence[Kept], file: IO[bytes], packing: str | None) -> None:
        out = packed(file, packing)
        for part in parts:
            if packing or part.source.packing or part.edits or part.annotation or file is sys.stdout.buffer or not is_utf8(part.encoding):
                self.write_kept(part, out)
            else:
                _copy_lines(part, file)
        out.close()

    def write_kept(self, part: Kept, out: IO[bytes]) -> None:
        if not is_utf8(part.encoding):
            _write_parsed(part, out)
        elif part.annotation:
            _write_annotated(part, out, part.annotation)
        elif part.edits:
            _write_edited(part, out, part.edits)
        else:
            _write_lines(part, out)

    def row_writer(self, path: Path, names: Sequence[str] = ()) -> JsonlWriter:
        return JsonlWriter(path)


JSONL = JsonLines()


def _block_rows(block: Block, name: str, wanted: Wanted) -> Iterator[Row | Problem]:
    """The rows of a block. Each is checked natively, and so is its text made; all the rest is then parsed at once."""
    data, found = bytes(block.data), _native.scan_json_lines(block.data, [wanted.text])
    extents = zip(np.asarray(found["begins"]).tolist(), np.asarray(found["ends"]).tolist(), strict=True)
    lines = [data[begin:end] for begin, end in extents]
    numbers = (np.asarray(found["lines"], dtype=np.int64) + block.line).tolist()
    problems = np.asarray(found["problems"]).tolist()
    values = _values(lines, found, problems)
    view, offsets = memoryview(found["text"]), np.asarray(found["text_offsets"]).tolist()
    texts = [str(view[first:last], "utf-8", "surrogatepass") for first, last in itertools.pairwise(offsets)]
    for line, number, problem, text in zip(lines, numbers, problems, texts, strict=True):
        place = f"{name}:{number}"
        value = next(values) if values is not None and problem not in (_BROKEN, _NO_OBJECT) else None
        if len(line) > row.MAX_LINE_BYTES:
            yield too_long(place, row.MAX_LINE_BYTES)
        elif value is not None:
            if not problem:
                value[wanted.text] = text
            yield Row(place, number, value)
        elif line.strip():
            yield parsed(Line(place, number, line), "utf-8", wanted.objects)


def _values(lines: list[bytes], found: Mapping[str, Any], problems: list[int]) -> Iterator[dict[str, Any]] | None:
    """The objects among the lines, with a number where their text is; None if there are some that Python cannot have."""
    begins = np.asarray(found["begins"])
    spans = (np.asarray(found["values"]).reshape(-1, 2) - begins[:, None]).tolist()
    pieces = [
        line[:begin] + b"0" + line[end:] if not problem else line
        for line, (begin, end), problem in zip(lines, spans, problems, strict=True)
        if problem not in (_BROKEN, _NO_OBJECT)
    ]
    try:
        objects: list[dict[str, Any]] = json.loads(b"[" + b",".join(pieces) + b"]")
    except (ValueError, RecursionError):  # a whole number of thousands of digits, or objects in objects without end
        return None
    return iter(objects)


def _scanned(scan: Callable[[Block, Report], Batch], buffers: Buffers, block: Block, report: Report) -> Batch:
    batch = scan(block, report)
    batch.lines = Lines(block.data, block.offset, partial(buffers.give, block))
    return batch


class _Scan:
    """Makes batches of blocks: texts and ids are found natively, and nothing else is looked at."""

    def __init__(self, source: Source, columns: Columns) -> None:
        self.source, self.columns = source, columns
        self._names = [columns.text, columns.id, columns.rank or columns.text, *columns.reserved]

    def batch(self, block: Block, report: Report) -> Batch:
        found = _native.scan_json_lines(block.data, self._names)
        problems = np.asarray(found["problems"])
        lines = np.asarray(found["lines"], dtype=np.int64) + block.line
        values = np.asarray(found["values"]).reshape(-1, len(self._names), 2)
        self._refuse_reserved(values, lines)
        usable = (problems == 0) | (problems == _NO_TEXT)
        if not usable.all():
            self._report_rows(block, found, problems, lines, report)
        id_spans, good_ids = self._ids(block, values[:, 1], usable, lines, report)
        usable &= good_ids
        ranks = None
        if self.columns.rank:
            spans = zip(values[:, self._names.index(self.columns.rank)].tolist(), usable, strict=True)
            tokens = [json.loads(bytes(block.data[begin:end])) if good and begin >= 0 else None for (begin, end), good in spans]
            ranks, ranked = ranks_of(tokens, self.columns.rank, self.columns.rank_kind, lambda i: f"{self.source.name}:{lines[i]}", report)
            usable &= ranked
        extents = np.stack((np.asarray(found["begins"]), np.asarray(found["ends"])), axis=1) + block.offset
        texts, offsets = found["text"], np.asarray(found["text_offsets"])
        has_text = problems == 0
        if not (usable & has_text).all():
            # Rows that are left out have no text in the buffer, unless it was the id or the rank that was wrong.
            wanted = usable & has_text
            texts, offsets = _joined(texts, np.stack((offsets[:-1], offsets[1:]), axis=1)[wanted])
            has_text = has_text[usable]
            lines, extents = lines[usable], extents[usable]
            id_spans = id_spans[usable]
            ranks = ranks[usable] if ranks is not None else None
        return Batch(
            rows=lines,
            texts=Packed(texts, offsets),
            has_text=None if has_text.all() else has_text,
            ids=Ids(*_joined(block.data, id_spans)) if (id_spans[:, 0] >= 0).any() else None,
            ranks=ranks if ranks is None or has_text.all() else ranks[has_text],
            extents=np.ascontiguousarray(extents).reshape(-1),
            resume_at=(block.offset + len(block.data), block.line + found["line_count"]),
        )

    def _refuse_reserved(self, values: NDArray[np.int64], lines: NDArray[Any]) -> None:
        taken = values[:, 3:, 0] >= 0
        if taken.any():
            row = int(taken.any(axis=1).argmax())
            name = self.columns.reserved[int(taken[row].argmax())]
            raise InputError(f"{self.source.name}:{lines[row]}: there is a column {name!r} already, which annotate adds: rename it")

    def _report_rows(self, block: Block, found: dict[str, Any], problems: NDArray[Any], lines: NDArray[Any], report: Report) -> None:
        for i, problem in enumerate(problems.tolist()):
            if problem in (0, _NO_TEXT):
                continue
            place, begin = f"{self.source.name}:{lines[i]}", found["begins"][i]
            if problem == _BROKEN:
                report(Problem("invalid JSON", place, f"the line is damaged at byte {found['problem_places'][i] - begin + 1}"))
            elif problem == _NO_OBJECT:
                report(Problem("not an object", place, "expected an object, such as {…}"))
            elif problem == _NO_COLUMN:
                report(Problem("no text", place, f"no column {self.columns.text!r}: name the column of the text"))
            else:
                report(Problem("wrong type", place, f"{self.columns.text!r} is not a text: name the column of the text, or convert it"))

    def _ids(
        self, block: Block, spans: NDArray[np.int64], usable: NDArray[np.bool_], lines: NDArray[Any], report: Report
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Where the ids stand, begin below 0 where there is none, and which rows have none or one that can be used."""
        spans, data = np.array(spans), np.frombuffer(block.data, np.uint8)
        given = spans[:, 0] >= 0
        first = np.where(given, data[spans[:, 0]], 0) if len(data) else np.zeros(0, np.uint8)
        sizes = spans[:, 1] - spans[:, 0]
        nothing = (first == ord("n")) | ((first == ord('"')) & (sizes == 2))  # null or ""
        spans[nothing] = -1
        good = _BEGINS_ID[first] | nothing | ~given | ~usable
        for i in np.flatnonzero(~good).tolist():
            shown = bytes(block.data[spans[i, 0] : spans[i, 1]]).decode("utf-8", "replace")[:60]
            place = f"{self.source.name}:{lines[i]}"
            report(Problem("unusable id", place, f"{self.columns.id!r} is {shown}: expected text or a number"))
        return spans, good


def scanned_lines(data: memoryview, name: str, columns: Columns, report: Report) -> Batch:
    """Whole lines that somebody else read, as a batch; rows are counted from 1."""
    return _Scan(Source(None, name, "jsonl"), columns).batch(Block(data, 0, 1), report)


def _record_batch(reader: FileReader, block: Block, report: Report) -> Batch:
    """Rows of which several columns are wanted: each is parsed, and is written as it came nevertheless."""
    data, found = bytes(block.data), _native.scan_json_lines(block.data, [reader.columns.id])
    collected, extents = Collected(reader.columns, False), []
    edges = zip(np.asarray(found["begins"]).tolist(), np.asarray(found["ends"]).tolist(), strict=True)
    for (begin, end), line in zip(edges, (np.asarray(found["lines"], dtype=np.int64) + block.line).tolist(), strict=True):
        if not data[begin:end].strip():
            continue
        given = parsed(Line(f"{reader.name}:{line}", line, data[begin:end]), "utf-8", True)
        problem = given if isinstance(given, Problem) else collected.add(given)
        if problem:
            report(problem)
        else:
            extents += [begin + block.offset, end + block.offset]
    batch = collected.batch()
    batch.extents, batch.resume_at = np.array(extents, np.int64), (block.offset + len(block.data), block.line + found["line_count"])
    return batch


def _joined(data: Any, spans: NDArray[np.int64]) -> tuple[bytes, NDArray[np.int64]]:
    """Some stretches of a buffer, one after the other."""
    joined, offsets = _native.join_spans(data, np.ascontiguousarray(spans).reshape(-1))
    return bytes(joined), np.asarray(offsets)


def _write_lines(part: Kept, out: IO[bytes]) -> None:
    last = b"\n"
    for piece in _pieces(part, stretches(part.extents, part.kept)):
        out.write(piece)
        last = piece[-1:]
    if last != b"\n":
        out.write(b"\n")


def _copy_lines(part: Kept, out: IO[bytes]) -> None:
    """From file to file, neither packed: the system copies the bytes."""
    if part.source.path is None:
        _write_lines(part, out)
        return
    wanted = stretches(part.extents, part.kept).tolist()
    out.flush()
    with open_file(part.source.path) as file:
        for begin, end in wanted:
            while begin < end:
                copied = copy_range(out.fileno(), file.fileno(), begin, end - begin)
                if not copied:
                    raise part.was_changed()
                begin += copied
        if wanted and os.pread(file.fileno(), 1, wanted[-1][1] - 1) != b"\n":
            out.write(b"\n")


def stretches(extents: NDArray[np.int64], kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Where the rows stand that stay, neighbours as one stretch."""
    extents = extents[kept]
    if not len(extents):
        return extents
    first = np.flatnonzero(np.concatenate(([True], extents[1:, 0] != extents[:-1, 1])))
    last = np.concatenate((first[1:], [len(extents)])) - 1
    return np.stack((extents[first, 0], extents[last, 1]), axis=1)


def _pieces(part: Kept, extents: NDArray[np.int64]) -> Iterator[bytes]:
    """The bytes of ascending stretches, in large pieces."""
    begins, ends = extents[:, 0], extents[:, 1]
    with opened_again(part.source) as file:
        at = 0
        while at < (int(ends[-1]) if len(ends) else 0):
            data = file.read(CHUNK)
            if not data:
                raise part.was_changed()
            view, end = memoryview(data), at + len(data)
            low, high = int(ends.searchsorted(at, "right")), int(begins.searchsorted(end, "left"))
            pairs = zip(begins[low:high].tolist(), ends[low:high].tolist(), strict=True)
            yield b"".join(view[max(begin - at, 0) : min(stop, end) - at] for begin, stop in pairs)
            at = end


def _write_edited(part: Kept, out: IO[bytes], edits: Cuts) -> None:
    for document, line in _lines(part):
        if document in edits.cuts:
            line = edited_line(line, document, edits)
        out.write(line if line.endswith(b"\n") else line + b"\n")


def edited_line(line: bytes, document: int, edits: Cuts) -> bytes:
    """A row with a shorter text; everything else in it stays as it is."""
    begin, end = list(_native.scan_json_lines(line, [edits.column])["values"])[:2]
    text = json.dumps(edits.edited(document, json.loads(line[begin:end])), ensure_ascii=False)
    return line[:begin] + text.encode("utf-8", "surrogatepass") + line[end:]


def _write_annotated(part: Kept, out: IO[bytes], annotation: Callable[[int], dict[str, Any]]) -> None:
    """All rows, each with the columns of the verdict behind its own."""
    for document, line in _lines(part):
        body = line.rstrip()
        added = json.dumps(annotation(document))[1:]
        comma = b"" if body[:-1].rstrip().endswith(b"{") else b", "
        out.write(body[:-1].rstrip() + comma + added.encode() + b"\n")


def _lines(part: Kept) -> Iterator[tuple[int, bytes]]:
    """The rows as they stand in the file, with the numbers of their documents."""
    with opened_again(part.source) as file:
        stream = file if isinstance(file, io.BufferedReader) else io.BufferedReader(file, CHUNK)  # type: ignore[type-var]  # an unpacking stream is raw enough
        at = 0
        for document, (begin, end) in zip(part.documents, part.extents.tolist(), strict=True):
            while at < begin and (passed := len(stream.read(min(begin - at, CHUNK)))):
                at += passed
            line = stream.read(end - begin)
            if len(line) < end - begin:
                raise part.was_changed()
            at = end
            yield document, line


def _write_parsed(part: Kept, out: IO[bytes]) -> None:
    """Rows in another encoding than UTF-8: as the bytes they came in, unless something is added or cut."""
    wanted = part.written()
    with opened_again(part.source) as file:
        for line in numbered_lines(file, part.source.name):
            document = None if isinstance(line, Problem) else wanted.pop(line.number, None)
            if isinstance(line, Problem) or document is None:
                continue
            data = line.data.removesuffix(b"\n")
            if part.annotation or (part.edits and document in part.edits.cuts):
                data = encoded(part.changed(document, json.loads(data.decode(part.encoding))), part.encoding)
            out.write(data + b"\n")
    if wanted:
        raise part.was_changed()


class JsonlWriter(RowWriter):
    def write(self, row: Mapping[str, Any]) -> None:
        self.out.write(json_line(row))


def json_line(row: Mapping[str, Any]) -> bytes:
    """One line of UTF-8. Text stays readable; what UTF-8 cannot carry is escaped."""
    try:
        line = json.dumps(row, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        line = json.dumps(plain(row), ensure_ascii=False)
    try:
        return line.encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(json.loads(line)).encode() + b"\n"
