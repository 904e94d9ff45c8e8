"""What a file is, and what it says. Every function and every verb that takes a file asks here.

The contents decide: documents (PDF, DOCX, XLSX …), mail and archives are read as text by ``lookalike.files``. Otherwise the name decides:
``.html``, ``.htm`` and ``.xhtml`` are web pages, and ``.gz`` and ``.zst`` are unpacked. What can be read as text is text, and of a binary
file only the bytes can be compared. ``kind`` overrules all that.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lookalike.corpus.files import Source, as_it_is
from lookalike.corpus.streams import damage, opened
from lookalike.errors import InputError
from lookalike.files.kinds import ARCHIVES, DOCUMENTS, OTHER_ARCHIVES, kind_of
from lookalike.files.model import FileText, Place
from lookalike.files.reading import read_data, read_file
from lookalike.io import MAX_TEXT_BYTES, NotText, decode_text, refuse_known_binary
from lookalike.markup.extraction import page_text
from lookalike.markup.page import Page, page

KINDS = ("text", "page", "file")
_READ = (*DOCUMENTS, *ARCHIVES, *OTHER_ARCHIVES, "ole")  # kinds of files that are more than text: ``files`` reads them
_HEAD = 1 << 16  # bytes, enough to know a binary file by, however large it is


@dataclass(frozen=True, slots=True)
class Contents:
    """A file as what it is: a text, a web page, or (``Path``) bytes that are no text."""

    name: str
    thing: str | Page | Path
    encoding: str | None = None  # how it was read, unless it is bytes
    said: str | None = None  # about how it was read, or why it could not be
    read: FileText | None = None  # of a document, mail or an archive

    @property
    def read_as(self) -> str:
        """The kind of a document (pdf, docx …); empty for what is plain text."""
        return self.read.kind if self.read else ""

    @property
    def places(self) -> tuple[Place, ...]:
        """Pages, sheets, slides, attachments: where in the text each is."""
        return self.read.places if self.read else ()

    @property
    def kind(self) -> str:
        return "text" if isinstance(self.thing, str) else "page" if isinstance(self.thing, Page) else "file"

    @property
    def notes(self) -> list[str]:
        """What a reader should know about how the file was read."""
        if self.kind == "file":
            return [f"{self.said}: its bytes are compared"] if self.said else []
        plain = self.kind == "page" or self.encoding in (None, "utf-8")
        parts = [part for part in (None if plain else f"read as {self.encoding}", self.said) if part]
        return [f"{self.name}: {'; '.join(parts)}"] if parts else []

    def text(self, extract: str = "main") -> str:
        """The text, or that of the page, as a store keeps it."""
        if isinstance(self.thing, Path):
            raise NotText(self.said or f"{self.name!r} is taken as bytes")
        return page_text(self.thing, extract) if isinstance(self.thing, Page) else self.thing


def contents(path: Path, kind: str | None = None, encoding: str | None = None) -> Contents:
    """A file as what it is, or as the ``kind`` that is given."""
    if kind is not None and (not isinstance(kind, str) or kind not in KINDS):
        raise InputError(f"kind={kind!r}: choose one of {', '.join(KINDS)}")
    if kind == "file":
        return Contents(str(path), path)
    try:
        return readable(path, kind, encoding)
    except NotText as error:
        if kind is not None or encoding is not None or not error.is_binary:
            raise
        return Contents(str(path), path, said=error.reason)


def readable(path: Path, kind: str | None = None, encoding: str | None = None) -> Contents:
    """The text or the page in a file; ``NotText`` where there is neither."""
    source = as_it_is(Source.of(path))
    try:
        with opened(source) as file:
            head = file.read(_HEAD)
            if encoding is None and kind != "page" and is_document(head, str(path)):
                return _document(read_file(path) if file.seekable() else read_data(head + file.read(MAX_TEXT_BYTES), str(path)), str(path))
            if encoding is None:
                refuse_known_binary(head, str(path))
            data = head + file.read(MAX_TEXT_BYTES + 1 - len(head))
    except damage() as error:
        raise NotText(f"{str(path)!r} cannot be unpacked: {error}", "pack it again") from error
    is_page = source.format == "html" or (not source.says_format and kind_of(head, str(path)) == "html")
    return read_contents(data, str(path), kind or ("page" if is_page else "text"), encoding)


def is_document(head: bytes, name: str) -> bool:
    """Whether a file is a document, mail or an archive, from how it begins."""
    return kind_of(head, name) in _READ


def _document(found: FileText, name: str) -> Contents:
    said = "; ".join(found.notes) or None
    if found.text.strip():
        return Contents(name, found.text, None, said, found)
    raise NotText(f"{name!r} has no text to compare ({found.kind}, {found.status}{f': {said}' if said else ''})", "give a file with text")


def read_contents(data: bytes, name: str, kind: str, encoding: str | None = None) -> Contents:
    """The same of bytes that were read already."""
    if kind == "page":
        made = page(data, encoding=encoding, name=name)
        said = "; ".join(note.removeprefix(f"{name}: ") for note in made.reading_notes)
        return Contents(name, made, made.encoding, said or None)
    if encoding is None and is_document(data[:_HEAD], name):
        return _document(read_data(data, name), name)
    read = decode_text(data, name, encoding)
    return Contents(name, read.text, read.encoding, read.note)
