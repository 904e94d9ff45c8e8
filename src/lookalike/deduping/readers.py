"""The readers behind the inputs of a run."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from lookalike.checks import check_several
from lookalike.corpus.batches import Columns, named_columns
from lookalike.corpus.files import Source, expand
from lookalike.corpus.formats import format_named
from lookalike.corpus.formats.base import FileReader
from lookalike.corpus.row import Problem
from lookalike.corpus.rows import check_encoding
from lookalike.corpus.streams import opened
from lookalike.deduping.working_files import Workspace
from lookalike.errors import InputError

LONG_NAME = 100  # characters: a name of a file seldom has as many, and a text often has


def expanded(
    inputs: str | Path | Sequence[str | Path], format: str | None, workspace: Workspace, left_out: Callable[[Problem], object]
) -> list[Source]:
    """The sources behind the inputs. Standard input and pipes are copied to files: they are read twice."""
    sources = found_sources(inputs, format, left_out)
    for source in sources:
        if source.path and not source.path.exists():
            raise InputError(f"{source.name!r} does not exist: check the path")
    return [
        _spooled(source, workspace.folder() / f"input-{number}") if source.path is None or source.path.is_fifo() else source
        for number, source in enumerate(sources)
    ]


def found_sources(inputs: str | Path | Sequence[str | Path], format: str | None, left_out: Callable[[Problem], object]) -> list[Source]:
    """The sources behind the inputs, as they are."""
    if not isinstance(inputs, str | Path):
        check_several("corpus", inputs, "a path, a folder or a pattern, or a list of them")
    try:
        return expand(inputs, format, left_out)
    except InputError as error:
        given = [inputs] if isinstance(inputs, str | Path) else inputs
        if any(isinstance(each, str) and (" " in each or not each.isascii() or len(each) > LONG_NAME) for each in given):
            raise InputError(f"{error}; a str is a path here: give texts as mappings, such as [{{'text': 'one text'}}]") from error
        raise


def check_columns(sources: Sequence[Source], columns: Columns, encoding: str | None) -> None:
    """An ``InputError`` for a column that no row has. An id may be missing, but not one that was asked for by another name."""
    named = named_columns(columns)
    named.read(sources, encoding or "utf-8")
    named.check()


def _spooled(source: Source, path: Path) -> Source:
    import shutil  # which imports every way to pack a file

    with opened(replace(source, packing=None)) as data, open(path, "wb") as file:
        shutil.copyfileobj(data, file, 1 << 20)
    return replace(source, path=path)


def readers_of(sources: Sequence[Source], columns: Columns, encoding: str | None) -> list[FileReader]:
    """A reader for each file, and one for each row of files that are documents themselves."""
    if encoding is not None and any(source.is_table for source in sources):
        check_encoding(encoding)
    found: list[FileReader] = []
    for holds_many, group in itertools.groupby(sources, key=lambda source: source.holds_many):
        files = list(group)
        together = [[source] for source in files] if holds_many else [files]
        found += [FileReader(format_named(each[0].format), each, columns, encoding) for each in together]
    return found


def stamp(sources: Sequence[Source]) -> list[tuple[str, int, int]]:
    """What tells whether inputs are still the same: names, sizes and times."""
    stats = [(os.path.abspath(source.path), source.path.stat()) for source in sources if source.path]
    return [(path, stat.st_size, stat.st_mtime_ns) for path, stat in stats]
