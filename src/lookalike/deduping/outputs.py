"""Writing what stays: a file, or a folder with a file for each input; whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from lookalike.corpus.files import Source
from lookalike.corpus.streams import packed
from lookalike.corpus.writing import atomic_file, check_outputs, row_writer
from lookalike.deduping.archives import WebArchive, write_archive
from lookalike.deduping.arrow_rows import ParquetFile, write_parquet
from lookalike.deduping.jsonl import JsonLines
from lookalike.deduping.jsonl_writing import copy_kept_lines, write_annotated_lines, write_kept_lines
from lookalike.deduping.readers import FileReader
from lookalike.deduping.row_files import RowFile, write_json_array, write_lines, write_separated
from lookalike.deduping.text_files import TextFiles
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
            folder = str(out).endswith(("/", os.sep)) or path.is_dir() or not (target.is_table or target.format == "warc")
        found = cls(path, folder)
        found._check(readers, annotate)
        return found

    def _check(self, readers: Sequence[FileReader], annotate: bool) -> None:
        files = any(isinstance(reader, TextFiles) for reader in readers)
        if annotate and any(isinstance(reader, TextFiles | WebArchive) for reader in readers):
            raise InputError("annotate adds columns, and texts and pages have none: use removed= (--removed) to list what was removed")
        if files and not self.folder:
            _refuse_damaged(readers)
            raise InputError(f"out={str(self.path or '-')!r}: text files go to a folder: name one, with a slash at its end")
        if self.folder and self.path is not None and self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            raise InputError(f"out={str(self.path)!r} is a folder that is not empty: name a new one")
        if not self.folder:
            formats = [reader.source.format for reader in readers if not isinstance(reader, TextFiles)]
            wanted = Source.of(self.path).format if self.path else formats[0]
            for reader in readers:
                if isinstance(reader, TextFiles) or reader.source.format != wanted:
                    raise InputError(
                        f"out={str(self.path or '-')!r}: {reader.name} has another format: write to a folder, or to a file of its format"
                    )
            if len(readers) > 1 and wanted == "json":
                raise InputError("several .json files cannot be written as one: name a folder as output")

    def write(self, readers: Sequence[FileReader], verdicts: DocumentVerdicts, annotate: bool, unreadable: Container[str]) -> None:
        """The documents that stay. A file that the first reading could not use at all is left out."""
        span = verdicts.ledger.span
        used = [
            (number, reader)
            for number, reader in enumerate(readers)
            if reader.name not in unreadable or span(number).start < span(number).stop
        ]
        if self.folder and self.path is not None:
            with _new_folder(self.path) as folder:
                names = _names(readers)
                for number, reader in used:
                    if isinstance(reader, TextFiles):
                        _copy_files(reader, number, verdicts, folder, names)
                        continue
                    target = folder / names[reader.name]
                    target.parent.mkdir(parents=True, exist_ok=True)
                    with atomic_file(target) as file:
                        _write([(number, reader)], file, Source.of(target).packing, verdicts, annotate)
        elif self.path is None:
            _write(used, sys.stdout.buffer, None, verdicts, annotate)
        else:
            with atomic_file(self.path) as file:
                _write(used, file, Source.of(self.path).packing, verdicts, annotate)


def _write(
    readers: Sequence[tuple[int, FileReader]], file: IO[bytes], packing: str | None, verdicts: DocumentVerdicts, annotate: bool
) -> None:
    if readers and isinstance(readers[0][1], ParquetFile):
        write_parquet([(number, reader.source) for number, reader in readers if isinstance(reader, ParquetFile)], file, verdicts, annotate)
        return
    if readers and isinstance(readers[0][1], WebArchive):
        for number, source in [(number, reader.source) for number, reader in readers if isinstance(reader, WebArchive)]:
            write_archive(source, file, packing, number, verdicts)
        return
    out = packed(file, packing)
    header: list[str] | None = None
    for number, reader in readers:
        if isinstance(reader, JsonLines) and annotate:
            write_annotated_lines(reader.source, out, number, verdicts)
        elif isinstance(reader, JsonLines) and packing is None and not reader.source.packing and file is not sys.stdout.buffer:
            copy_kept_lines(reader.source, file, number, verdicts)
        elif isinstance(reader, JsonLines):
            write_kept_lines(reader.source, out, number, verdicts)
        elif isinstance(reader, RowFile) and reader.source.format == "json":
            write_json_array(reader.source, out, number, verdicts, reader.encoding, annotate)
        elif isinstance(reader, RowFile) and reader.source.format == "jsonl":
            write_lines(reader.source, out, number, verdicts, reader.encoding, annotate)
        elif isinstance(reader, RowFile):
            found = write_separated(reader.source, out, number, verdicts, reader.encoding, annotate, header is None)
            if header is not None and found != header:
                raise InputError(
                    f"{reader.name} has other columns than {readers[0][1].name}: write them to a folder, or make them the same"
                )
            header = found
    out.close()


def _copy_files(reader: TextFiles, number: int, verdicts: DocumentVerdicts, folder: Path, names: dict[str, str]) -> None:
    ledger, span = verdicts.ledger, verdicts.ledger.span(number)
    paths = {source.name: source.path for source in reader.sources}
    for document, kept in zip(range(span.start, span.stop), verdicts.kept_of(number).tolist(), strict=True):
        path = paths[ledger.file(document)]
        if kept and path is not None:
            target = folder / names[ledger.file(document)]
            target.parent.mkdir(parents=True, exist_ok=True)
            if verdicts.edits and document in verdicts.edits.cuts:
                found = reader.decoded(Source.of(path))
                target.write_bytes(verdicts.edits.edited(document, found.text).encode(found.encoding, "surrogatepass"))
            else:
                shutil.copyfile(path, target)


def _names(readers: Sequence[FileReader]) -> dict[str, str]:
    """The name of each input below the folder that all of them share."""
    sources = [source for reader in readers for source in (reader.sources if isinstance(reader, TextFiles) else [reader.source])]
    paths = {source.name: os.path.abspath(source.path) if source.path else source.name for source in sources}
    shared = os.path.commonpath([os.path.dirname(path) for path in paths.values()])
    return {name: os.path.relpath(path, shared) for name, path in paths.items()}


@contextmanager
def _new_folder(path: Path) -> Iterator[Path]:
    """A folder that takes its name when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".lookalike-{secrets.token_hex(8)}.part"
    temporary.mkdir()
    try:
        yield temporary
        os.replace(temporary, path)  # over an empty folder too
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def write_removed(path: str | Path, verdicts: Verdicts) -> None:
    """The audit trail, as .jsonl, .csv or .parquet."""
    target = Source.of(Path(path))
    if target.format == "jsonl":
        with atomic_file(path) as file:
            out = packed(file, target.packing)
            for line in verdicts.removed_lines():
                out.write(line)
            out.close()
    elif target.format in ("csv", "tsv"):
        import csv
        import io

        with atomic_file(path) as file:
            out = packed(file, target.packing)
            text = io.StringIO(newline="")
            writer = csv.writer(text, delimiter="," if target.format == "csv" else "\t", lineterminator="\n")
            found = [verdicts.removed(document).to_dict() for document in verdicts.removed_numbers().tolist()]
            writer.writerow(found[0] if found else Removed._fields[:5])
            writer.writerows(row.values() for row in found)
            out.write(text.getvalue().encode("utf-8", "backslashreplace"))
            out.close()
    elif target.format == "parquet":
        with row_writer(path) as rows:
            for document in verdicts.removed_numbers().tolist():
                removed = verdicts.removed(document)
                rows.write(removed.to_dict() | {"id": str(removed.id), "kept_id": str(removed.kept_id)})
    else:
        raise InputError(f"removed={str(path)!r}: the list is written as .jsonl, .csv or .parquet: choose one of these endings")


def check_paths(sources: Sequence[Source], **outputs: str | Path | None) -> None:
    """Outputs that can be written, and that destroy nothing."""
    check_outputs([source.path for source in sources], **outputs)
    for name, path in outputs.items():
        if name != "out" and path is not None and path != STANDARD_OUTPUT and not os.path.isdir(os.path.dirname(os.path.realpath(path))):
            raise InputError(f"{name}={str(path)!r}: the folder does not exist: make it first")


def _refuse_damaged(readers: Sequence[FileReader]) -> None:
    """Where the output does not fit text files: a damaged file, of which nobody knows what it was, is told first."""
    for reader in readers:
        problem = reader.first_damaged() if isinstance(reader, TextFiles) else None
        if problem is not None:
            raise InputError(f"{problem.place}: {problem.kind}: {problem.message}; repair it, or name other inputs")
