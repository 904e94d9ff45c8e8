"""The text of a file while it is being read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lookalike.checks import is_unicode
from lookalike.files.limits import Budget
from lookalike.files.model import EMPTY, OK, FileText, Place

LOCKED = "it is encrypted: save a copy of it without the password"


class Unreadable(Exception):
    """A file without a text that could be had: its status, and a sentence for people."""

    def __init__(self, status: str, note: str) -> None:
        super().__init__(note)
        self.status, self.note = status, note


class Collected:
    """Pieces of text, and the places that they belong to."""

    def __init__(self, budget: Budget, name: str, depth: int = 0) -> None:
        self.budget, self.name, self.depth = budget, name, depth
        self.length = 0
        self.places: list[Place] = []
        self.title: str | None = None
        self.meta: dict[str, Any] = {}
        self.notes: list[str] = []
        self.status = OK
        self.encoding: str | None = None
        self._pieces: list[str] = []

    def write(self, text: str) -> None:
        if text:
            text = whole_characters(text)
            self.budget.write(len(text))
            self._pieces.append(text)
            self.length += len(text)

    def paragraph(self, text: str) -> None:
        """A text with a line of its own; nothing for white space."""
        if text := text.strip():
            self.write(text + "\n")

    @contextmanager
    def place(self, kind: str, name: str) -> Iterator[None]:
        """What is written inside belongs to this place. A place without text is not kept."""
        at, start = len(self.places), self.length
        yield
        if self.length > start:
            self.places.insert(at, Place(kind, whole_characters(name), start, self.length))

    def add(self, found: FileText) -> None:
        """The text of a file inside this one, with its places."""
        start = self.length
        self.places += [Place(kind, name, start + first, start + last) for kind, name, first, last in found.places]
        self.write(found.text)
        if found.text and not found.text.endswith("\n"):
            self.write("\n")
        self.notes += [note if note.startswith(found.name) else f"{found.name}: {note}" for note in found.notes]

    def finished(self, kind: str) -> FileText:
        text = "".join(self._pieces)
        status = EMPTY if self.status == OK and not text.strip() else self.status
        title = whole_characters(" ".join(self.title.split())[:500]) if self.title else None
        meta = {name: whole_characters(value) if isinstance(value, str) else value for name, value in self.meta.items()}
        meta = {name: value for name, value in meta.items() if value not in (None, "")}
        return FileText(self.name, kind, status, text, tuple(self.places), title or None, meta, tuple(self.notes), self.encoding)


def whole_characters(text: str) -> str:
    """A text that can be stored: some readers give halves of characters, in pairs or alone."""
    return text if is_unicode(text) else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
