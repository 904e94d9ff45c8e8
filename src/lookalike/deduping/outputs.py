"""Writing what stays: a file, or a folder with a file for each input; whole or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from lookalike.corpus.files import Source
from lookalike.corpus.formats import format_named
from lookalike.corpus.formats.base import FileReader, Kept, RowWriter
from lookalike.corpus.row import Problem
from lookalike.corpus.streams import packed
from lookalike.corpus.writing import atomic_file, atomic_folder, check_folder, check_outputs
from lookalike.deduping.references.found import FoundReference
from lookalike.deduping.verdicts import DocumentVerdicts, Removed, Verdicts
from lookalike.errors import InputError

STANDARD_OUTPUT = "-"


@dataclass(frozen=True, slots=True)
class Output:
    """Where the documents go. ``folder``: a file for each input, under the names they have below the folder they share."""

    path: Path | None  # None: standard output
    folder: bool

    @classmethod
    def of(cls, out: str | Path, readers: Sequence[FileReader], annotate: bool) -> Output:
        if out == STANDARD_OUTPUT:
            path, folder = None, False
        else:
            path = Path(out)
            target = Source.of(path)
            folder = str(out).endswith(("/", os.sep)) or path.is_dir() or not target.holds_many
        found = cls(path, folder)
        found._check(readers, annotate)
        return found

    def _check(self, readers: Sequence[FileReader], annotate: bool) -> None:
        out = str(self.path or STANDARD_OUTPUT)
        if annotate and not all(reader.source.is_table for reader in readers):
            raise InputError("annotate adds columns, and texts and pages have none: use removed= (--removed) to list what was removed")
        if not self.folder and not all(reader.source.holds_many for reader in readers):
            _refuse_damaged(readers)
            raise InputError(f"out={out!r}: text files go to a folder: name one, with a slash at its end")
        if self.folder and self.path is not None and self.path.exists() and not self.path.is_dir():
            raise InputError(f"out={out!r} is there and is no folder: name a new folder, or a file by its ending, such as clean.jsonl")
        if self.folder and self.path is not None and self.path.exists() and any(self.path.iterdir()):
            raise InputError(f"out={out!r} is a folder that is not empty: name a new one")
        if not self.folder:
            wanted = Source.of(self.path).format if self.path else readers[0].source.format
            if other := next((reader for reader in readers if reader.source.format != wanted), None):
                raise InputError(f"out={out!r}: {other.name} has another format: write to a folder, or to a file of its format")
            if len(readers) > 1 and not format_named(wanted).several_as_one:
                raise InputError(f"several .{wanted} files cannot be written as one: name a folder as output")

    def write(self, readers: Sequence[FileReader], verdicts: DocumentVerdicts, annotate: bool, unreadable: Container[str]) -> None:
        """The documents that stay. A file that the first reading could not use at all is left out."""
        parts = [_kept(reader, number, verdicts, annotate) for number, reader in enumerate(readers)]
        used = [part for part in parts if part.source.name not in unreadable or part.documents]
        if self.folder and self.path is not None:
            with atomic_folder(self.path) as folder:
                names = output_names(readers)
                for part in used:
                    if part.source.holds_many:
                        _write_file([part], folder / names[part.source.name])
                    else:
                        from lookalike.corpus.formats.text import copy_files  # reads documents of all kinds

                        copy_files(part, folder, names)
        elif self.path is None:
            _write(used, sys.stdout.buffer, None)
        else:
            _write_file(used, self.path)


def _kept(reader: FileReader, number: int, verdicts: DocumentVerdicts, annotate: bool) -> Kept:
    ledger, span = verdicts.ledger, verdicts.ledger.span(number)
    annotation = verdicts.annotation if annotate else None
    where = ledger.rows()[span], verdicts.kept_of(number), ledger.extents(number), ledger.file
    edits = None if annotate else verdicts.edits  # what would be cut is marked then
    return Kept(reader, range(span.start, span.stop), *where, edits, annotation)


def _write_file(parts: Sequence[Kept], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(path) as file:
        _write(parts, file, Source.of(path).packing)


def _write(parts: Sequence[Kept], file: IO[bytes], packing: str | None) -> None:
    if parts:
        parts[0].reader.format.write(parts, file, packing)


def output_names(readers: Sequence[FileReader]) -> dict[str, str]:
    """The name of each input below the folder that all of them share."""
    sources = [source for reader in readers for source in reader.sources]
    paths = {source.name: os.path.abspath(source.path) if source.path else source.name for source in sources}
    shared = os.path.commonpath([os.path.dirname(path) for path in paths.values()])
    return {name: os.path.relpath(path, shared) for name, path in paths.items()}


def write_removed(path: str | Path, verdicts: Verdicts) -> None:
    """The audit trail, as .jsonl, .csv or .parquet."""
    target = Source.of(Path(path))
    if target.format == "jsonl":
        with atomic_file(path) as file:
            out = packed(file, target.packing)
            for line in verdicts.removed_lines():  # in which ids are as they were found
                out.write(line)
            out.close()
        return
    writer = format_named(target.format).row_writer(Path(path), Removed._fields[:5])
    if writer is None:
        raise InputError(f"removed={str(path)!r}: the list is written as .jsonl, .csv or .parquet: choose one of these endings")
    with writer as rows:
        for document in verdicts.removed_numbers().tolist():
            removed = verdicts.removed(document)
            rows.write(removed.to_dict() | {"id": str(removed.id), "kept_id": str(removed.kept_id)})


def check_listed(path: str | Path) -> RowWriter:
    """What writes the list of references, as .jsonl, .csv or .parquet."""
    writer = format_named(Source.of(Path(path)).format).row_writer(Path(path), FoundReference._fields)
    if writer is None:
        raise InputError(f"references={str(path)!r}: the list is written as .jsonl, .csv or .parquet: choose one of these endings")
    return writer


def write_references(path: str | Path, found: Sequence[FoundReference]) -> None:
    """What became of each reference. In JSON ids are as they were found, and elsewhere texts: a column has one type."""
    as_found = Source.of(Path(path)).format == "jsonl"
    with check_listed(path) as rows:
        for each in found:
            rows.write(each.to_dict() if as_found else each.to_dict() | {"id": str(each.id)})


def check_paths(sources: Sequence[Source], **outputs: str | Path | None) -> None:
    """Outputs that can be written, and that destroy nothing."""
    check_outputs([source.path for source in sources], **outputs)
    for name, path in outputs.items():
        if name != "out" and path is not None and path != STANDARD_OUTPUT:
            check_folder(name, path)


def _refuse_damaged(readers: Sequence[FileReader]) -> None:
    """Where the output does not fit text files: a damaged file, of which nobody knows what it was, is told first."""
    for reader in readers:
        files = [source for source in reader.sources[:100] if source.packing and not source.holds_many]
        found = replace(reader, sources=files).rows() if files else ()
        if problem := next((row for row in found if isinstance(row, Problem)), None):
            raise InputError(f"{problem.place}: {problem.kind}: {problem.message}; repair it, or name other inputs")
