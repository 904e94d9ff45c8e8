"""Both pages' trees beside each other as HTML rows: what was paired stands in one row, long equal stretches are folded.

The limits keep the page one that a browser can open; both are stated where they take effect.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from lookalike.figures import shown_score
from lookalike.markup.elements import Element
from lookalike.pages.matching import PartMatch, TagMatch
from lookalike.reports.escaping import escaped
from lookalike.reports.marks import marked

FOLDED_FROM = 12  # equal rows in a stretch
CONTEXT = 3  # of them shown at either end
MAX_ROWS = 10_000  # in both parts together
MAX_STRING = 200  # characters of a text or a value
MAX_INDENT = 24  # levels; deeper tags stand no further to the right
_CLASSES = {"equal": "equal same", "changed": "changed", "gone": "gone", "new": "new"}  # one column is enough for what is the same


@dataclass(frozen=True, slots=True)
class TagPair:
    left: Element | None
    right: Element | None
    similarity: float | None  # None: no partner

    @property
    def kind(self) -> str:
        if self.similarity is None:
            return "gone" if self.left else "new"
        return "equal" if self.similarity == 1.0 or _looks_equal(self.left, self.right) else "changed"


def _looks_equal(left: Element | None, right: Element | None) -> bool:
    """Whether two tags or texts differ in nothing but white space, which nobody sees."""
    if left is None or right is None or left.name != right.name or left.attrs.keys() != right.attrs.keys():
        return False
    values = ((_value(value), _value(right.attrs[key])) for key, value in left.attrs.items())
    return all(_line(mine) == _line(other) for mine, other in ((left.string or "", right.string or ""), *values))


def rows_of(part: PartMatch) -> Iterator[TagPair]:
    """All tags and texts of both sides in document order; what is gone stands before what is new."""
    i = k = 0
    ends = [((len(part.left), len(part.right)), None)]
    for (left, right), similarity in [*zip(part.pairs, part.similarities, strict=True), *ends]:
        yield from (TagPair(element, None, None) for element in part.left[i:left])
        yield from (TagPair(None, element, None) for element in part.right[k:right])
        if similarity is not None:
            yield TagPair(part.left[left], part.right[right], similarity)
        i, k = left + 1, right + 1


def trees_html(match: TagMatch) -> str:
    """The rows of head and body."""
    room = MAX_ROWS
    pieces: list[str] = []
    for name, part in (("head", match.head), ("body", match.body)):
        rows = list(rows_of(part))
        counts = Counter(row.kind for row in rows)
        facts = ", ".join(f"{counts[what]:,} {what}" for what in ("equal", "changed", "gone", "new"))
        pieces.append(f'<div class="part">{name}: {shown_score(part.score)} <span>{facts}</span></div>')
        pieces += _shown(rows[:room])
        if len(rows) > room:
            pieces.append(f'<div class="left-out">{len(rows) - room:,} more rows are not shown</div>')
        room = max(0, room - len(rows))
    return "".join(pieces)


def _shown(rows: list[TagPair]) -> Iterator[str]:
    for kind, group in groupby(rows, key=lambda row: row.kind):
        stretch = list(group)
        if kind != "equal" or len(stretch) < FOLDED_FROM:
            yield from map(_html, stretch)
            continue
        yield from map(_html, stretch[:CONTEXT])
        folded = stretch[CONTEXT:-CONTEXT]
        yield f'<details class="fold"><summary>{len(folded):,} equal tags and texts</summary>{"".join(map(_html, folded))}</details>'
        yield from map(_html, stretch[-CONTEXT:])


def _html(row: TagPair) -> str:
    title = f' title="similarity {shown_score(row.similarity)}"' if row.similarity is not None and row.kind == "changed" else ""
    left, right = _cell(row.left, "l", row), _cell(row.right, "r", row)
    # A tag whose text differs looks the same on both sides: the text has a row of its own.
    same = " same" if row.kind == "changed" and left.replace('"l ', '"r ', 1) == right else ""
    return f'<div class="row {_CLASSES[row.kind]}{same}"{title}>{left}{right}</div>'


def _cell(element: Element | None, side: str, row: TagPair) -> str:
    if element is None:
        return f'<div class="{side}"></div>'
    partner = row.right if side == "l" else row.left
    inner = _text(element, partner) if element.is_text else _tag(element, partner)
    shift = min(max(element.depth - 2, 0), MAX_INDENT)
    if row.kind in ("gone", "new"):
        inner = marked("deleted" if row.kind == "gone" else "inserted", inner)
    return f'<div class="{side} in{shift}">{inner}</div>'


def _text(element: Element, partner: Element | None) -> str:
    shown = f"<q>{_short(element.string or '')}</q>"
    return _marked(shown, partner is not None and _line(partner.string or "") != _line(element.string or ""))


def _tag(element: Element, partner: Element | None) -> str:
    name = f'<b class="tag">{escaped(element.name)}</b>'
    pieces = [_marked(name, partner is not None and partner.name != element.name)]
    for key, value in element.attrs.items():
        shown = _value(value)
        other = partner.attrs.get(key) if partner is not None else value
        differs = other is None or _line(_value(other)) != _line(shown)
        pieces.append(_marked(f"{escaped(key)}=<q>{_short(shown)}</q>", differs))
    return " ".join(pieces)


def _marked(html: str, differs: bool) -> str:
    return marked("reworded", html) if differs else html


def _value(value: str | list[str]) -> str:
    return value if isinstance(value, str) else " ".join(value)


def _line(text: str) -> str:
    """A text as a browser shows it: white space at its ends is nothing, and any other is one space."""
    return " ".join(text.split())


def _short(text: str) -> str:
    line = _line(text)
    return escaped(line if len(line) <= MAX_STRING else f"{line[:MAX_STRING]}…")
