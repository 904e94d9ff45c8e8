"""How edits are marked, everywhere: each kind has a tint, a line and a sign, so that colour is not the only one."""

from __future__ import annotations

KINDS = {
    "kept": "in the same order on both sides",
    "moved": "stands elsewhere on the right",
    "reworded": "changed inside a sentence that is still there or was moved",
    "deleted": "only on the left",
    "inserted": "only on the right",
}
_TAGS = {"deleted": "del", "inserted": "ins"}


def marked(kind: str, content: str, attributes: str = "") -> str:
    """Markup with the mark of its kind; what has a counterpart on the other side is a link that ``attributes`` complete."""
    if kind == "kept":
        return content
    if kind in _TAGS:
        return f"<{_TAGS[kind]}>{content}</{_TAGS[kind]}>"
    return f'<a class="{kind}"{attributes}>{content}</a>'


def row(left: str, right: str, name: str = "row") -> str:
    """Two texts beside each other; on a narrow screen one above the other, or one alone where both are the ``same``."""
    cells = "".join(f'<div class="{side}" dir="auto" lang="">{cell}</div>' for side, cell in zip("lr", (left, right), strict=True))
    return f'<div class="{name}">{cells}</div>'


def view(heads: tuple[str, str], rows: str, name: str = "view") -> str:
    """Rows under the names of the two sides."""
    top = "".join(f'<div class="{side}">{head}</div>' for side, head in zip("lr", heads, strict=True))
    return f'<div class="{name}"><div class="row head">{top}</div>{rows}</div>'
