"""Blocks of JSON lines, scanned natively: as rows, or as batches of texts, ids and ranks."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.corpus import row
from lookalike.corpus.batches import Batch, Columns, Ids, LineBlock, Report
from lookalike.corpus.files import Source
from lookalike.corpus.formats.base import FileReader, RowsWanted
from lookalike.corpus.formats.json import Line, parsed
from lookalike.corpus.formats.lines import Block, Buffers, too_long
from lookalike.corpus.joined import Joined
from lookalike.corpus.ranks import ranks_of
from lookalike.corpus.row import Problem, Row
from lookalike.corpus.value_batches import CollectedRows
from lookalike.errors import InputError

_BEGINS_ID = np.zeros(256, np.bool_)
_BEGINS_ID[list(b'"-0123456789')] = True
_BROKEN, _NO_OBJECT, _NO_COLUMN, _NO_TEXT = 1, 2, 3, 4


def block_rows(block: Block, name: str, wanted: RowsWanted) -> Iterator[Row | Problem]:
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


def scanned(scan: Callable[[Block, Report], Batch], buffers: Buffers, block: Block, report: Report) -> Batch:
    batch = scan(block, report)
    batch.lines = LineBlock(block.data, block.offset, partial(buffers.give, block))
    return batch


class LineScan:
    """Makes batches of blocks: texts and ids are found natively, and nothing else is looked at."""

    def __init__(self, source: Source, columns: Columns) -> None:
        self.source, self.columns = source, columns
        self._names = [columns.text, columns.id, columns.rank or columns.text, *columns.reserved]
        self._scratch = _native.TextScratch()

    def batch(self, block: Block, report: Report) -> Batch:
        found = _native.scan_json_lines(block.data, self._names, self._scratch)
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
            texts=Joined(texts, offsets),
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
    return LineScan(Source(None, name, "jsonl"), columns).batch(Block(data, 0, 1), report)


def record_batch(reader: FileReader, block: Block, report: Report) -> Batch:
    """Rows of which several columns are wanted: each is parsed, and is written as it came nevertheless."""
    data, found = bytes(block.data), _native.scan_json_lines(block.data, [reader.columns.id])
    collected, extents = CollectedRows(reader.columns, False), []
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
