"""Which files a corpus is made of: files, folders and patterns become sources, always in the same order."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lookalike.checks import check_choice, check_several
from lookalike.corpus import formats
from lookalike.corpus.row import NOT_DATA, Problem
from lookalike.errors import InputError
from lookalike.io import known_binary

STANDARD_INPUT = "-"
STORE_FILE = "store.sqlite"  # a folder with it is an index, kept beside its texts: no part of them
_PACKINGS = {".gz": "gz", ".zst": "zst"}
_SKIPPABLE = b"\x2a\x4d\x18"  # behind the first byte of a frame with which Zstandard may begin, too
_WILD = frozenset("*?[")
_ESCAPED = re.compile(r"\\(?=x[0-9a-f]{2})")


@dataclass(frozen=True, slots=True)
class Source:
    """One file of a corpus, or standard input (``path`` is None)."""

    path: Path | None
    name: str  # the path as it was given, with slashes; what messages and made ids are called by
    format: str  # a name of the table of formats; "text" for every name that says nothing
    packing: str | None = None  # "gz" or "zst"
    says_format: bool = True  # whether the name itself says what there is in the file

    @property
    def is_table(self) -> bool:
        """Whether it holds a document per row, with columns."""
        return formats.shape_of(self.format) == "table"

    @property
    def holds_many(self) -> bool:
        """Whether it holds many documents, and not one."""
        return formats.shape_of(self.format) != "document"

    @classmethod
    def of(cls, path: str | Path, format: str | None = None) -> Source:
        """The source behind a path; its ending tells the format, unless one is given."""
        if format is not None:
            check_choice("format", format, formats.names())
        if path == STANDARD_INPUT:
            return cls(None, STANDARD_INPUT, format or "jsonl")
        path = Path(path)
        endings = [ending.lower() for ending in path.suffixes]
        packing = _PACKINGS.get(endings[-1]) if endings else None
        if packing:
            endings.pop()
        ending = endings[-1] if endings else ""
        return cls(path, readable_name(path), format or formats.name_by_ending(ending), packing, formats.is_known(ending))


def expand(
    inputs: str | Path | Sequence[str | Path],
    format: str | None = None,
    left_out: Callable[[Problem], object] | None = None,
    closed: Callable[[OSError], object] | None = None,
    *,
    by_content: bool = False,
) -> list[Source]:
    """The sources behind files, folders, patterns (``**`` too) and ``-`` for standard input.

    Folders are searched to any depth; hidden files and folders in them are left out, so are stores, and links to folders
    are not followed. A file that is named twice is read once. The order is that of the inputs, and within one of them by path.

    Where a folder or pattern finds tables or web archives, files whose names do not say that they are data (README.md, LICENSE)
    are not read; ``left_out`` gets each of them as a problem. A file that is named itself is always read. A folder in a folder that
    cannot be read is an error, unless ``closed`` is to get what is wrong with it. ``by_content``: a document or a picture is one whatever
    its name says; whoever writes rows as they came goes by names.
    """
    if isinstance(inputs, str | Path):
        inputs = [inputs]
    found: dict[tuple[str, str], Source] = {}
    for given in check_several("inputs", inputs, "paths, folders, patterns, or '-'"):
        if not isinstance(given, str | Path):
            raise InputError(f"inputs hold a {type(given).__name__}: give paths, folders, patterns, or '-'")
        # Path("-") is a file of that name.
        paths = [STANDARD_INPUT] if given == STANDARD_INPUT else _files(Path(given), closed)
        sources = {_identity(path): Source.of(path, format) for path in paths}
        if by_content and format is None:
            sources = {identity: as_it_is(source) for identity, source in sources.items()}
        if format is None and paths != [given] and paths != [Path(given)]:
            sources = _data(sources, left_out)
        for identity, source in sources.items():
            found.setdefault(identity, source)
    return list(found.values())


def as_it_is(source: Source) -> Source:
    """A document or a picture called like a table, a web archive or something packed is read as what it is; so is what is not packed."""
    path = source.path
    if path is None or not (source.holds_many or source.packing) or not path.is_file():
        return source
    try:
        with path.open("rb") as file:
            head = file.read(512)
    except OSError:
        return source  # said by whoever reads it
    found = known_binary(head)
    if source.packing and found is None and head[1:4] != _SKIPPABLE:
        return replace(source, packing=None)  # not packed at all
    is_other = found is not None and found[1] not in _PACKINGS.values()
    return replace(source, format=formats.TEXT, packing=None, says_format=True) if is_other else source


def _data(sources: dict[tuple[str, str], Source], left_out: Callable[[Problem], object] | None) -> dict[tuple[str, str], Source]:
    """What of a folder is data. Without tables every file is."""
    table = next((source.name for source in sources.values() if source.holds_many), None)
    if table is None:
        return sources
    kept = {}
    for identity, source in sources.items():
        if source.says_format:
            kept[identity] = source
        elif left_out:
            message = f"left out, because there are data files beside it, such as {table}; name the file itself to have it read"
            left_out(Problem(NOT_DATA, source.name, message, skipped=False))
    return kept


def _files(given: Path, closed: Callable[[OSError], object] | None = None) -> list[Path]:
    try:
        kind = "folder" if given.is_dir() else "file" if os.path.lexists(given) else "nothing"
    except (ValueError, OSError) as error:  # a NUL in the name, or a name that is too long: a text, perhaps
        shown = f"{str(given)[:60]!r}{' …' if len(str(given)) > 60 else ''}"
        raise InputError(f"{shown} is not a path: {getattr(error, 'strerror', None) or error}") from error
    if kind == "folder":
        wrong: list[OSError] = []
        found = _sorted(_walk(given, wrong.append if closed else None))
        for each in wrong:
            if closed:
                closed(each)
        if not found and not wrong:
            raise InputError(f"{str(given)!r} holds no files: check the folder")
        return found
    if kind == "file":
        return [given]
    if not _WILD & set(str(given)):
        raise InputError(f"{str(given)!r} does not exist: check the path")
    found = _sorted(_matches(given))
    if not found:
        raise InputError(f"no file matches {str(given)!r}: check the pattern")
    return found


def _walk(folder: Path, closed: Callable[[OSError], object] | None = None) -> Iterator[Path]:
    def blame(error: OSError) -> None:
        if closed and error.filename != str(folder):
            closed(error)
            return
        raise InputError(f"{error.filename!r} cannot be read: {error.strerror}; check its permissions")

    for top, folders, names in os.walk(folder, onerror=blame):
        if STORE_FILE in names:
            folders.clear()
            continue
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (path for name in names if not name.startswith(".") and _is_data(path := Path(top, name)))


def _is_data(path: Path) -> bool:
    """A file, or a link that leads nowhere, which the reader shall name; no pipe, which would wait for ever."""
    return path.is_file() or not path.exists()


def _matches(pattern: Path) -> Iterator[Path]:
    fixed = [*_until_wild(pattern.parts)]
    wild = pattern.parts[len(fixed) :]
    shown = {part for part in wild if part.startswith(".")}
    try:
        # pathlib's own expansion does not follow links below **, so no loop can make it endless.
        matches = list(Path(*fixed).glob("/".join(wild)))
    except (ValueError, NotImplementedError) as error:
        raise InputError(f"{str(pattern)!r} is not a pattern: {error}") from error
    for path in matches:
        if any(part.startswith(".") and part not in shown for part in path.parts[len(fixed) :]):
            continue
        if path.is_dir():
            yield from _walk(path)
        elif _is_data(path):
            yield path


def _until_wild(parts: Iterable[str]) -> Iterator[str]:
    for part in parts:
        if _WILD & set(part):
            return
        yield part


def _sorted(paths: Iterable[Path]) -> list[Path]:
    return sorted(set(paths), key=lambda path: path.parts)


def _identity(path: str | Path) -> tuple[str, str]:
    """The folder it is really in, and its name there: a link to a file is a file of its own."""
    folder, name = os.path.split(os.path.abspath(path))
    return ("", STANDARD_INPUT) if path == STANDARD_INPUT else (os.path.realpath(folder), name)


def readable_name(path: Path) -> str:
    r"""A path with slashes. Bytes that are no UTF-8 become escapes such as \xff, so that the name can be stored and printed; so does the
    backslash of a name that is written like that: no two files have one name.
    """
    name = _ESCAPED.sub(r"\\x5c", path.as_posix())
    return os.fsencode(name).decode(sys.getfilesystemencoding(), "backslashreplace")
