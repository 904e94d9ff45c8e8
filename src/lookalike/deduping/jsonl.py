"""JSON lines: rows are found natively, and written as the bytes they came in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lookalike import _native
from lookalike.corpus.files import Source
from lookalike.corpus.row import Problem
from lookalike.corpus.streams import opened
from lookalike.deduping.batches import Batch, Columns, Ids, Report
from lookalike.deduping.lines import Block, line_blocks
from lookalike.deduping.ranks import ranks_of
from lookalike.errors import InputError
from lookalike.text.columns import Packed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ID_BEGINS = list(b'"-0123456789')
_BROKEN, _NO_OBJECT, _NO_COLUMN, _NO_TEXT = 1, 2, 3, 4


class JsonLines:
    """The rows of one file."""

    def __init__(self, source: Source, columns: Columns) -> None:
        self.source, self.columns = source, columns
        self._names = [columns.text, columns.id, columns.rank or columns.text, *columns.reserved]

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def size(self) -> int | None:
        return self.source.path.stat().st_size if self.source.path and not self.source.packing else None

    def batches(self, report: Report, start: tuple[int, int] = (0, 1)) -> Iterator[Batch]:
        with opened(self.source) as file:
            for block in line_blocks(file, self.source.name, report, start):
                batch = self._batch(block, report)
                if len(batch):
                    yield batch

    def _batch(self, block: Block, report: Report) -> Batch:
        import numpy as np

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
            spans = values[:, self._names.index(self.columns.rank)].tolist()
            tokens = [_value(block.data, begin, end) if good else None for (begin, end), good in zip(spans, usable, strict=True)]
            ranks, ranked = ranks_of(tokens, self.columns.rank, self.columns.rank_kind, lambda i: f"{self.source.name}:{lines[i]}", report)
            usable &= ranked
        extents = np.stack((np.asarray(found["begins"]), np.asarray(found["ends"])), axis=1) + block.offset
        texts, offsets = found["text"], np.asarray(found["text_offsets"])
        has_text = problems == 0
        if not (usable & has_text).all():
            # Rows that are left out have no text in the buffer, unless it was the id or the rank that was wrong.
            wanted = usable & has_text
            texts, offsets = _taken(texts, offsets, wanted)
            has_text = has_text[usable]
            lines, extents = lines[usable], extents[usable]
            id_spans = id_spans[usable]
            ranks = ranks[usable] if ranks is not None else None
        return Batch(
            rows=lines,
            texts=Packed(texts, offsets),
            has_text=None if has_text.all() else has_text,
            ids=_joined(block.data, id_spans),
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
        import numpy as np

        spans, data = np.array(spans), np.frombuffer(block.data, np.uint8)
        given = spans[:, 0] >= 0
        first = np.where(given, data[spans[:, 0]], 0) if len(data) else np.zeros(0, np.uint8)
        sizes = spans[:, 1] - spans[:, 0]
        nothing = (first == ord("n")) | ((first == ord('"')) & (sizes == 2))  # null or ""
        spans[nothing] = -1
        good = np.isin(first, _ID_BEGINS) | nothing | ~given | ~usable
        for i in np.flatnonzero(~good).tolist():
            shown = bytes(block.data[spans[i, 0] : spans[i, 1]]).decode("utf-8", "replace")[:60]
            place = f"{self.source.name}:{lines[i]}"
            report(Problem("unusable id", place, f"{self.columns.id!r} is {shown}: expected text or a number"))
        return spans, good


def _joined(data: memoryview, spans: NDArray[np.int64]) -> Ids | None:
    """The ids as JSON, one after the other."""
    import numpy as np

    if (spans[:, 0] < 0).all():
        return None
    joined, offsets = _native.join_spans(data, np.ascontiguousarray(spans).reshape(-1))
    return Ids(bytes(joined), np.asarray(offsets))


def _value(data: memoryview, begin: int, end: int) -> Any:
    return json.loads(bytes(data[begin:end])) if begin >= 0 else None


def _taken(texts: Any, offsets: NDArray[np.int64], wanted: NDArray[np.bool_]) -> tuple[bytes, NDArray[np.int64]]:
    import numpy as np

    view = memoryview(texts)
    pieces = [bytes(view[offsets[i] : offsets[i + 1]]) for i in np.flatnonzero(wanted).tolist()]
    return b"".join(pieces), np.concatenate(([0], np.cumsum([len(piece) for piece in pieces], dtype=np.int64)))
