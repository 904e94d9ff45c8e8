"""The readers behind the inputs of a run."""

from __future__ import annotations

import itertools
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lookalike.corpus.files import Source, expand
from lookalike.corpus.rows import check_encoding
from lookalike.deduping.archives import WebArchive
from lookalike.deduping.arrow_rows import ParquetFile
from lookalike.deduping.batches import Columns
from lookalike.deduping.jsonl import JsonLines
from lookalike.deduping.row_files import RowFile
from lookalike.deduping.text_files import TextFiles
from lookalike.deduping.workspace import Workspace
from lookalike.errors import InputError

FileReader = JsonLines | RowFile | ParquetFile | TextFiles | WebArchive


def expanded(inputs: str | Path | Sequence[str | Path], format: str | None, workspace: Workspace) -> list[Source]:
    """The sources behind the inputs. Standard input is copied to a file: it is read twice."""
    sources = [_spooled(source, workspace) if source.path is None else source for source in expand(inputs, format)]
    for source in sources:
        if source.path and not source.path.exists():
            raise InputError(f"{source.name!r} does not exist: check the path")
    return sources


def _spooled(source: Source, workspace: Workspace) -> Source:
    path = workspace.folder() / "stdin"
    with open(path, "wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
    return replace(source, path=path)


def readers_of(sources: Sequence[Source], columns: Columns, encoding: str | None) -> list[FileReader]:
    if encoding is not None and any(source.is_table for source in sources):
        check_encoding(encoding)
    found: list[FileReader] = []
    for has_many, group in itertools.groupby(sources, key=lambda source: source.is_table or source.format == "warc"):
        if has_many:
            found += [_reader(source, columns, encoding) for source in group]
        else:
            found.append(TextFiles(list(group), columns, encoding))
    return found


def _reader(source: Source, columns: Columns, encoding: str | None) -> FileReader:
    if source.format == "warc":
        return WebArchive(source, columns, encoding)
    if source.format == "parquet":
        return ParquetFile(source, columns)
    if source.format == "jsonl" and (encoding or "utf-8").lower().replace("_", "-") in ("utf-8", "utf8"):
        return JsonLines(source, columns)
    return RowFile(source, columns, encoding or "utf-8")


def stamp(sources: Sequence[Source]) -> list[tuple[str, int, int]]:
    """What tells whether inputs are still the same: names, sizes and times."""
    stats = [(os.path.abspath(source.path), source.path.stat()) for source in sources if source.path]
    return [(path, stat.st_size, stat.st_mtime_ns) for path, stat in stats]
