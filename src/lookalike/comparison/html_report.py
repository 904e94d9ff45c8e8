"""A comparison as a page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lookalike.comparison.explaining import about, formula
from lookalike.comparison.passages import longest_first
from lookalike.comparison.side_by_side import SideBySide
from lookalike.figures import counted, shown_score, shown_share
from lookalike.files.model import Place, where
from lookalike.model import Span
from lookalike.reports.document import document, section
from lookalike.reports.escaping import escaped
from lookalike.reports.marks import KINDS, marked, view
from lookalike.reports.tables import Markup, bar, table

if TYPE_CHECKING:
    from lookalike.comparison.outcome import Comparison

MAX_PASSAGES = 200  # listed on the page
MAX_VALUE = 500  # characters of a record's field
EXCERPT = 90

Names = tuple[str, str]


def page(comparison: Comparison, names: Names) -> str:
    """The whole page of a comparison of texts, files, records or pages."""
    sections = [
        _heading(names),
        _verdict(comparison),
        _shares(comparison),
        _texts(comparison, names),
        _passages(comparison, names),
        _trees(comparison, names),
        _fields(comparison, names) if comparison.parts else _measures(comparison),
        _notes(comparison),
        _signature(comparison),
    ]
    return document(f"{names[0]} and {names[1]}: {comparison.verdict}", "".join(sections), scripted=True)


def _name(name: str) -> str:
    return f'<bdi class="name">{escaped(name)}</bdi>'


def _heading(names: Names) -> str:
    return f"<h1>{_name(names[0])} <span>and</span> {_name(names[1])}</h1>"


def _verdict(comparison: Comparison) -> str:
    sign, relation = "✓" if comparison.alike else "✗", "at least" if comparison.score >= comparison.threshold else "below"
    score = shown_score(comparison.score, threshold=comparison.threshold)
    return (
        f'<section class="verdict {"alike" if comparison.alike else "unlike"}">'
        f'<p class="score"><b>{score}</b> <span class="badge">{sign} {comparison.verdict}</span></p>'
        f"{bar(comparison.score, comparison.threshold)}"
        f"<p>The score is {relation} the threshold of {comparison.threshold:g}. {formula(comparison)}</p></section>\n"
    )


def _shares(comparison: Comparison) -> str:
    if comparison.edits is None:
        return ""
    shares = comparison.edits.to_dict()
    rows = [(Markup(marked(kind, kind)), shown_share(shares[kind]), bar(shares[kind]), meaning) for kind, meaning in KINDS.items()]
    lines = ["Shares of the characters of the left text; of the right text for inserted text. White space does not count."]
    if comparison.kind == "code":
        lines = [
            "Shares of the characters of the code. Names, literals, comments and layout do not count: what differs in these alone is kept."
        ]
    if ignored := comparison.ignored:
        left, right = shown_share(ignored.left), shown_share(ignored.right)
        lines.append(
            f'<span class="ignored">Ignored text</span> does not count at all: {left} of the left text, {right} of the right text.'
        )
    content = table(rows, numbers=(1,)) + "".join(f"<p>{line}</p>" for line in lines)
    return section("What became of the text", content, name="shares")


def _texts(comparison: Comparison, names: Names) -> str:
    if comparison.edits is None:
        return ""
    texts = str(comparison.left), str(comparison.right)
    ignored = comparison.ignored
    spans = (ignored.left_spans, ignored.right_spans) if ignored else ((), ())
    is_code = comparison.kind == "code"
    rows = SideBySide(*texts, comparison.edits, comparison.passages[:MAX_PASSAGES], spans, numbered=is_code).html()
    left, right = (f"{_name(name)} <span>{len(text):,} characters</span>" for name, text in zip(names, texts, strict=True))
    hint = "Follow a moved or reworded stretch to its counterpart. " if 'data-group="' in rows else ""
    hint += "Small numbers mark where shared passages begin." if comparison.passages else ""
    return section("Side by side", view((left, right), rows, "view source" if is_code else "view"), lead=hint, name="texts")


def _trees(comparison: Comparison, names: Names) -> str:
    if comparison.tags is None:
        return ""
    from lookalike.comparison.page_trees import trees_html

    gone, new, differs = marked("deleted", "Gone"), marked("inserted", "new"), marked("reworded", "differs")
    lead = (
        f"<p>Tags and texts that were paired stand in one row. {gone} is what only the left page has, {new} what only the"
        f" right page has, and what {differs} in a pair is marked. White space that nobody sees is not marked.</p>"
    )
    rows = view((_name(names[0]), _name(names[1])), trees_html(comparison.tags), "view trees")
    return section("Tags side by side", lead + rows, name="texts")


def _passages(comparison: Comparison, names: Names) -> str:
    if comparison.edits is None or comparison.containment is None:
        return ""
    count = len(comparison.passages)
    if not count:
        return section("Shared passages", "<p>None.</p>", name="passages")
    shares = [shown_share(comparison.containment[side]) for side in ("left", "right")]
    parts = " and ".join(f"{share} of <bdi>{escaped(name)}</bdi>" for share, name in zip(shares, names, strict=True))
    places = comparison.passage_lines() if comparison.kind == "code" else comparison.passages
    unit = "lines " if comparison.kind == "code" else ""
    items = "".join(
        f'<li value="{n}"><q>{_excerpt(str(comparison.left), passage.left)}</q>'
        f" {_jump('left', n, unit, places[n - 1].left, comparison.left_places)}"
        f" {_jump('right', n, unit, places[n - 1].right, comparison.right_places)}</li>"
        for n, passage in longest_first(comparison.passages[:MAX_PASSAGES])
    )
    rest = f"<p>… and {count - MAX_PASSAGES:,} more, not listed here.</p>" if count > MAX_PASSAGES else ""
    lead = f"<p>{counted(count, 'shared passage')}, which {'makes' if count == 1 else 'make'} up {parts}. The longest comes first.</p>"
    return section("Shared passages", f"{lead}<ol>{items}</ol>{rest}", name="passages")


def _jump(side: str, number: int, unit: str, span: Span, places: Sequence[Place]) -> str:
    """Where a passage is: on which page, where the file has pages."""
    shown = where(places, span) or f"{unit}{span[0]:,}–{span[1]:,}"
    return f'<a class="jump" href="#{side[0]}p{number}">{side} {escaped(shown)}</a>'


def _excerpt(text: str, span: Span) -> str:
    start, end = span
    if end - start <= EXCERPT:
        return escaped(" ".join(text[start:end].split()))
    half = EXCERPT // 2
    return escaped(" ".join(text[start : start + half].split())) + " … " + escaped(" ".join(text[end - half : end].split()))


def _measures(comparison: Comparison) -> str:
    rows = [
        (name, "–", "not computed, see the notes", "")
        if value is None
        else (name, shown_score(value), bar(value), Markup(about(comparison.kind, name)))
        for name, value in comparison.measures.items()
    ]
    content = table(rows, numbers=(1,)) if rows else ""
    if rows and comparison.kind in ("text", "code"):
        # A page of similarities explains nothing to most readers: the score is above, and what it is made of beside it.
        summary = f"{counted(len(rows), 'measure')} of similarity, from 0 to 1; none of them is part of the score"
        content = f"<details><summary>{summary}</summary>{content}</details>"
    return section("Measures", content, name="measures")


def _fields(comparison: Comparison, names: Names) -> str:
    rows = [
        (
            name,
            _value(comparison.left, name),
            _value(comparison.right, name),
            shown_score(part.similarity),
            bar(part.similarity),
            part.measure,
            f"{part.weight:g}",
        )
        for name, part in comparison.parts.items()
    ]
    headers = ("field", *names, "similarity", "", "measure", "weight")
    return section("Fields", table(rows, headers, numbers=(3, 6)), name="fields")


def _value(record: Any, name: str) -> Markup:
    if not isinstance(record, Mapping) or name not in record:
        return Markup("<i>missing</i>")
    value = record[name]
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)
    more = f" <i>… {len(shown) - MAX_VALUE:,} more characters</i>" if len(shown) > MAX_VALUE else ""
    return Markup(escaped(shown[:MAX_VALUE]) + more)


def _notes(comparison: Comparison) -> str:
    items = "".join(f"<li>{escaped(note)}</li>" for note in comparison.notes)
    return section("Notes", items and f"<ul>{items}</ul>", name="notes")


def _signature(comparison: Comparison) -> str:
    items = " · ".join(f"{escaped(name)} <code>{escaped(value)}</code>" for name, value in comparison.signature.items())
    return f"<footer>Signature: {items}. Numbers with the same signature can be compared.</footer>"
