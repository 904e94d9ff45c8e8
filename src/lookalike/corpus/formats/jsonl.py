"""JSON lines: rows are found natively, and written as the bytes they came in."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO

from lookalike import _native
from lookalike.corpus import batches, row
from lookalike.corpus.batches import Batch, Report, SourcePart
from lookalike.corpus.files import Source
from lookalike.corpus.formats.base import FileReader, Format, Kept, RowsWanted
from lookalike.corpus.formats.json import numbered_lines, parsed
from lookalike.corpus.formats.json_scan import LineScan, block_rows, record_batch, scanned
from lookalike.corpus.formats.jsonl_writing import JsonlWriter, copy_lines, write_annotated, write_edited, write_lines, write_parsed
from lookalike.corpus.formats.lines import Buffers, line_blocks
from lookalike.corpus.row import Problem, Row
from lookalike.corpus.rows import is_utf8
from lookalike.corpus.streams import opened, packed

ROWS_BLOCK = 1 << 16  # bytes that are made rows at once: somebody may want no more than the first one


class JsonLines(Format):
    def rows(self, file: IO[bytes], name: str, wanted: RowsWanted) -> Iterator[Row | Problem]:
        if is_utf8(wanted.encoding):
            for block in line_blocks(file, name, row.MAX_LINE_BYTES, size=ROWS_BLOCK):
                yield from [block] if isinstance(block, Problem) else block_rows(block, name, wanted)
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

    def parts(self, reader: FileReader, report: Report, start: tuple[int, int]) -> Iterator[SourcePart]:
        """The blocks are found one after the other, and scanned side by side."""
        if not is_utf8(reader.encoding):
            yield from super().parts(reader, report, start)
            return
        scan = LineScan(reader.source, reader.columns).batch if reader.columns.fields is None else partial(record_batch, reader)
        buffers = Buffers()
        with opened(reader.source) as file:
            for block in line_blocks(file, reader.name, batches.MAX_ROW_BYTES, start, buffers=buffers):
                if isinstance(block, Problem):
                    report(block)
                else:
                    yield SourcePart(len(block.data), partial(scanned, scan, buffers, block))

    def row_file(self, reader: FileReader) -> _native.RowFile | None:
        path, plain = reader.source.path, not reader.source.packing and is_utf8(reader.encoding)
        if path is None or not plain or reader.columns.fields is not None:
            return None
        return _native.RowFile(os.fsencode(path.absolute()), reader.name, reader.columns.text)

    def size(self, source: Source) -> int | None:
        return source.path.stat().st_size if source.path and not source.packing else None

    def write(self, parts: Sequence[Kept], file: IO[bytes], packing: str | None) -> None:
        out = packed(file, packing)
        for part in parts:
            if packing or part.source.packing or part.edits or part.annotation or file is sys.stdout.buffer or not is_utf8(part.encoding):
                self.write_kept(part, out)
            else:
                copy_lines(part, file)
        out.close()

    def write_kept(self, part: Kept, out: IO[bytes]) -> None:
        if not is_utf8(part.encoding):
            write_parsed(part, out)
        elif part.annotation:
            write_annotated(part, out, part.annotation)
        elif part.edits:
            write_edited(part, out, part.edits)
        else:
            write_lines(part, out)

    def row_writer(self, path: Path, names: Sequence[str] = ()) -> JsonlWriter:
        return JsonlWriter(path)


JSONL = JsonLines()
