"""What is compared: documents, or submissions of several files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lookalike.files.model import Place


@dataclass(frozen=True, slots=True)
class ThingPart:
    """A file of a submission, or the only text of a document."""

    name: str
    text: str
    language: str | None = None  # of code
    places: tuple[Place, ...] = ()  # pages, sheets, slides


@dataclass(frozen=True, slots=True)
class Thing:
    """A document, or a submission: what stands on one side of a pair."""

    id: str
    parts: tuple[ThingPart, ...]
    page: Any = None  # the ``Page`` of a web page
    record: Mapping[str, Any] | None = None
