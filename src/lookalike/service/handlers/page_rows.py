"""The paired tags of two pages, as rows that the web page shows."""

from __future__ import annotations

from typing import Any

from lookalike.comparison.page_trees import MAX_STRING, rows_of
from lookalike.markup.elements import Element
from lookalike.pages.matching import TagMatch

MOST = 4_000  # rows of both parts; a browser stays quick


def tag_rows(match: TagMatch) -> list[dict[str, Any]]:
    parts, room = [], MOST
    for name, part in (("head", match.head), ("body", match.body)):
        rows = [[_shown(pair.left), _shown(pair.right), pair.kind] for pair in rows_of(part)]
        parts.append({"part": name, "counts": part.to_dict(), "rows": rows[:room], "more": max(0, len(rows) - room)})
        room = max(0, room - len(rows))
    return parts


def _shown(element: Element | None) -> list[Any] | None:
    if element is None:
        return None
    attributes = {key: _short(value if isinstance(value, str) else " ".join(value)) for key, value in element.attrs.items()}
    return ["#text" if element.is_text else element.name, attributes, _short(element.string or ""), element.depth]


def _short(text: str) -> str:
    return text if len(text) <= MAX_STRING else f"{text[:MAX_STRING]}…"
