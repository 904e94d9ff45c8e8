"""Tables, and the bars in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lookalike.corpus.row import Problem
from lookalike.reports.document import section
from lookalike.reports.escaping import attribute, escaped

SHOWN_PROBLEMS = 50


class Markup(str):
    """Markup: a table shows it as it is, and all other text escaped."""

    __slots__ = ()


def table(rows: Iterable[Sequence[str]], headers: Sequence[str] = (), *, numbers: Iterable[int] = ()) -> str:
    """Rows of text or markup; the columns in ``numbers`` are aligned to the right.

    On a narrow screen each row of a table with headers is a card, and each cell says what it is.
    """
    right = frozenset(numbers)
    names = [f' data-name="{attribute(header)}"' for header in headers]

    def cell(tag: str, i: int, content: str) -> str:
        name = names[i] if names and tag == "td" else ""
        style = ' class="n"' if i in right else ""
        return f"<{tag}{style}{name}>{content if isinstance(content, Markup) else escaped(content)}</{tag}>"

    def row(tag: str, cells: Sequence[str]) -> str:
        return f"<tr>{''.join(cell(tag, i, content) for i, content in enumerate(cells))}</tr>"

    head = f"<thead>{row('th', headers)}</thead>" if headers else ""
    return f'<table class="{"list" if headers else "figures"}">{head}<tbody>{"".join(row("td", cells) for cells in rows)}</tbody></table>'


def bar(value: float, threshold: float | None = None) -> Markup:
    """A share of 1 as a bar, with a tick at a threshold."""
    width = 100 * min(max(value, 0.0), 1.0)
    tick = "" if threshold is None else f'<rect class="tick" x="{100 * threshold - 0.25:.2f}" width="0.5" height="8"/>'
    return Markup(
        '<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="track" width="100" height="8"/><rect class="value" width="{width:.2f}" height="8"/>{tick}</svg>'
    )


def problems(lead: str, counts: Mapping[str, int], found: Sequence[Problem]) -> str:
    """The section on what was wrong with the input; nothing if nothing was."""
    if not counts:
        return ""
    total = sum(counts.values())
    more = f" The first {SHOWN_PROBLEMS} of {total:,}." if total > SHOWN_PROBLEMS else ""
    rows = [(each.place, each.kind, each.message) for each in found[:SHOWN_PROBLEMS]]
    kinds = "; ".join(f"{kind}: {count:,}" for kind, count in counts.items())
    return section("Problems with the input", table(rows, ("where", "what", "")), lead=f"{lead} {kinds}.{more}")
