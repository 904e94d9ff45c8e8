"""What is compared, from files, folders, patterns, archives and stores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from lookalike.checks import check_several
from lookalike.corpus.contents import readable
from lookalike.corpus.documents import documents
from lookalike.corpus.files import STORE_FILE
from lookalike.corpus.row import Problem
from lookalike.errors import InputError
from lookalike.files.model import read_places
from lookalike.fingerprints.record import comparable_documents
from lookalike.index.opening import open as open_index
from lookalike.model import Document
from lookalike.pairing.things import Thing, ThingPart
from lookalike.text.code import check_language, language_of

MOST_CHARACTERS = 16 << 20  # of one document
GROUPS = ("auto", "file", "folder")
Report = Callable[[Problem], object]


def read_things(
    inputs: str | Path | Sequence[str | Path],
    *,
    kind: str,
    language: str | None,
    group_by: str,
    collection: str,
    columns: dict[str, str],
    report: Report,
) -> tuple[list[Thing], bool]:
    """The things to compare, and whether they are submissions of several files each."""
    given = [inputs] if isinstance(inputs, (str, Path)) else list(check_several("inputs", inputs, "paths, folders, patterns, or a store"))
    if store := next((each for each in given if is_store(each)), None):
        if len(given) > 1:
            raise InputError(f"{str(store)!r} is a store: give it alone")
        return _renamed(things_of(_stored(str(store), collection, kind), kind, language, report)), False
    things = list(things_of(_documents(given, kind, columns, report), kind, language, report))
    folders = [_folder(given, thing.id) for thing in things]
    grouped = kind != "record" and (group_by == "folder" or (group_by == "auto" and _are_submissions(given, folders)))
    return (_grouped(things, folders) if grouped else _renamed(things)), grouped


def is_store(location: object) -> bool:
    """Whether a path or an address is that of a store."""
    if isinstance(location, str) and "://" in location:
        return True
    return isinstance(location, (str, Path)) and "\0" not in str(location) and os.path.isfile(os.path.join(location, STORE_FILE))


def _stored(location: str, collection: str, kind: str) -> Iterator[Document]:
    with open_index(location, collection=collection, read_only=True, create=False) as index:
        for document in index.documents():
            if kind != "record" and document.text is None:
                raise InputError(f"{location!r} keeps no texts ({document.id!r} has none): pairs need them; give the files instead")
            yield document


def _documents(given: list[str | Path], kind: str, columns: dict[str, str], report: Report) -> Iterable[Document]:
    if kind == "record":
        return comparable_documents(documents(given, id_column=columns["id_column"], columns=[], on_problem=report), {}, {}, report)
    # The source of code is wanted as it is, of HTML too.
    return documents(
        given,
        text_column=columns["text_column"],
        id_column=columns["id_column"],
        format="text" if kind == "code" else None,
        on_problem=report,
    )


def things_of(found: Iterable[Document], kind: str, language: str | None, report: Report) -> Iterator[Thing]:
    """Documents as things to compare; what cannot be compared is reported."""
    for each in found:
        if _usable(each, kind, report):
            try:
                yield _thing(each, kind, language)
            except InputError as error:
                report(Problem("not code", str(each.id), str(error)))


def _usable(document: Document, kind: str, report: Report) -> bool:
    if document.text is not None and len(document.text) > MOST_CHARACTERS:
        report(
            Problem("too long", str(document.id), f"{len(document.text):,} characters, at most {MOST_CHARACTERS:,} are compared: split it")
        )
        return False
    return kind == "record" or document.text is not None


def _thing(document: Document, kind: str, language: str | None) -> Thing:
    name = str(document.id)
    if kind == "record":
        return Thing(name, (), record=document.record)
    chosen = None
    if kind == "code":
        chosen = language_of(PurePosixPath(name)) if language is None else check_language(language)
    part = ThingPart(name, document.text or "", chosen, read_places(document.meta.get("places", ())))
    return Thing(name, (part,), page=document.page)


def _folder(given: Sequence[str | Path], name: str) -> str | None:
    """The submission that a file belongs to: the folder or archive below the only input, or the input itself where there are several."""
    for each in given:
        root = Path(each).as_posix().rstrip("/")
        if name == root or not name.startswith(f"{root}/"):
            continue
        rest = name[len(root) + 1 :].split("/")
        if len(given) > 1:
            return root
        return f"{root}/{rest[0]}" if len(rest) > 1 else None
    return None


def _are_submissions(given: Sequence[str | Path], folders: Sequence[str | None]) -> bool:
    """Whether every file stands in a folder or an archive of its own kind, and there are several of these."""
    if not all(isinstance(each, (str, Path)) and os.path.exists(each) for each in given):
        return False
    return None not in folders and len(set(folders)) > 1


def _grouped(things: Sequence[Thing], folders: Sequence[str | None]) -> list[Thing]:
    groups: dict[str, list[ThingPart]] = {}
    for thing, folder in zip(things, folders, strict=True):
        groups.setdefault(folder or thing.id, []).extend(thing.parts)
    return [Thing(name, tuple(parts)) for name, parts in groups.items()]


def _renamed(things: Iterable[Thing]) -> list[Thing]:
    """The things under names of their own: two rows of a table may have the same id, and 1 is not "1"."""
    seen: dict[str, int] = {}
    found = []
    for thing in things:
        times = seen[thing.id] = seen.get(thing.id, 0) + 1
        found.append(thing if times == 1 else Thing(f"{thing.id} ({times})", thing.parts, thing.page, thing.record))
    return found


def read_templates(ignore: Iterable[str | Path] | None, kind: str, language: str | None) -> list[ThingPart]:
    """The texts that do not count."""
    found = []
    for number, each in enumerate(ignore or (), 1):
        if isinstance(each, Path):
            chosen = (language_of(each) if language is None else check_language(language)) if kind == "code" else None
            found.append(ThingPart(str(each), readable(each, "text" if kind == "code" else None).text(), chosen))
        elif isinstance(each, str):
            if kind == "code" and language is None:
                raise InputError("ignore: a text does not say its language; give a file, or name the language")
            found.append(ThingPart(f"ignored text {number}", each, check_language(language) if kind == "code" else None))
        else:
            raise InputError(f"ignore[{number - 1}] is of type {type(each).__name__}: give a text (str) or a file (Path)")
    return found
