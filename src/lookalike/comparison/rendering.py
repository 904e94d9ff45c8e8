"""A comparison as a page: one HTML file with everything in it, no script from elsewhere and no request to anywhere.

All text of the user goes through ``escaped``. A content security policy that names the page's own style and script by their
digests is the second lock.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from importlib import resources
from typing import TYPE_CHECKING, Any

from lookalike.comparison.escaping import attribute, escaped
from lookalike.comparison.explaining import about, formula
from lookalike.comparison.side_by_side import SideBySide
from lookalike.figures import shown_score, shown_share
from lookalike.model import Span

if TYPE_CHECKING:
    from lookalike.comparison.compare import Comparison

MAX_PASSAGES = 200  # listed on the page
MAX_VALUE = 500  # characters of a record's field
EXCERPT = 90

KINDS = {
    "kept": "in the same order on both sides",
    "moved": "stands elsewhere on the right",
    "reworded": "changed inside a sentence that is still there or was moved",
    "deleted": "only on the left",
    "inserted": "only on the right",
}
_SAMPLES = {
    "kept": "kept",
    "moved": '<a class="moved">moved</a>',
    "reworded": '<a class="reworded">reworded</a>',
    "deleted": "<del>deleted</del>",
    "inserted": "<ins>inserted</ins>",
}


def page(comparison: Comparison, names: tuple[str, str]) -> str:
    """The whole page of a comparison of texts, files, records or pages."""
    sections = [_verdict(comparison)]
    if comparison.edits is not None:
        sections += [_shares(comparison), _texts(comparison, names), _passages(comparison, names)]
    if comparison.tags is not None:
        sections.append(_trees(comparison, names))
    if comparison.parts:
        sections.append(_fields(comparison, names))
    else:
        sections.append(_measures(comparison))
    sections += [_notes(comparison), _signature(comparison)]
    return _document(f"{names[0]} and {names[1]}: {comparison.verdict}", _heading(names) + "".join(sections))


def _document(title: str, body: str) -> str:
    style, script = _resource("report.css"), _resource("report.js")
    policy = (
        f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; img-src data:; base-uri 'none'; form-action 'none'"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n'
        f'<title>{attribute(title)}</title>\n<link rel="icon" href="data:,">\n'
        f"<style>{style}</style>\n</head>\n<body>\n{body}\n<script>{script}</script>\n</body>\n</html>\n"
    )


def _resource(name: str) -> str:
    return resources.files("lookalike.comparison").joinpath(name).read_text(encoding="utf-8")


def _digest(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def _heading(names: tuple[str, str]) -> str:
    left, right = (f'<bdi class="name">{escaped(name)}</bdi>' for name in names)
    return f"<h1>{left} <span>and</span> {right}</h1>"


def _section(name: str, title: str, content: str) -> str:
    return f'<section class="{name}"><h2>{title}</h2>{content}</section>\n' if content else ""


def _verdict(comparison: Comparison) -> str:
    sign, relation = ("✓", "at least") if comparison.alike else ("✗", "below")
    score = shown_score(comparison.score, threshold=comparison.threshold)
    return (
        f'<section class="verdict {"alike" if comparison.alike else "unlike"}">'
        f'<p class="score"><b>{score}</b> <span class="badge">{sign} {comparison.verdict}</span></p>'
        f"{_bar(comparison.score, comparison.threshold)}"
        f"<p>The score is {relation} the threshold of {comparison.threshold:g}. {formula(comparison)}</p></section>\n"
    )


def _bar(value: float, threshold: float | None = None) -> str:
    width = 100 * min(max(value, 0.0), 1.0)
    tick = "" if threshold is None else f'<rect class="tick" x="{100 * threshold - 0.25:.2f}" width="0.5" height="8"/>'
    return (
        '<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="track" width="100" height="8"/><rect class="value" width="{width:.2f}" height="8"/>{tick}</svg>'
    )


def _row(name: str, *cells: str) -> str:
    return f'<tr><th scope="row">{name}</th>{"".join(cells)}</tr>'


def _cell(content: str, name: str = "") -> str:
    return f'<td class="{name}">{content}</td>' if name else f"<td>{content}</td>"


def _number(content: str) -> str:
    return _cell(content, "number")


def _shares(comparison: Comparison) -> str:
    shares = comparison.edits.to_dict() if comparison.edits else {}
    rows = "".join(
        _row(_SAMPLES[kind], _number(shown_share(shares[kind])), _cell(_bar(shares[kind])), _cell(meaning))
        for kind, meaning in KINDS.items()
    )
    lines = ["Shares of the characters of the left text; of the right text for inserted text. White space does not count."]
    if ignored := comparison.ignored:
        sample = '<span class="ignored">Ignored text</span>'
        lines.append(
            f"{sample} does not count at all: {shown_share(ignored.left)} of the left text, {shown_share(ignored.right)} of the right text."
        )
    return _section("shares", "What became of the text", f"<table>{rows}</table>{''.join(f'<p>{line}</p>' for line in lines)}")


def _texts(comparison: Comparison, names: tuple[str, str]) -> str:
    left, right = str(comparison.left), str(comparison.right)
    ignored = comparison.ignored
    spans = (ignored.left_spans, ignored.right_spans) if ignored else ((), ())
    if comparison.edits is None:
        return ""
    rows = SideBySide(left, right, comparison.edits, comparison.passages[:MAX_PASSAGES], spans).html()
    heads = "".join(
        f'<div class="{side}"><bdi class="name">{escaped(name)}</bdi> <span>{len(text):,} characters</span></div>'
        for side, name, text in (("l", names[0], left), ("r", names[1], right))
    )
    hint = "Follow a moved or reworded stretch to its counterpart. " if 'data-group="' in rows else ""
    hint += "Small numbers mark where shared passages begin." if comparison.passages else ""
    return _section("texts", "Side by side", f'<p>{hint}</p><div class="view"><div class="row head">{heads}</div>{rows}</div>')


def _trees(comparison: Comparison, names: tuple[str, str]) -> str:
    from lookalike.comparison.page_trees import trees_html

    if comparison.tags is None:
        return ""
    heads = "".join(f'<div class="{side}"><bdi class="name">{escaped(name)}</bdi></div>' for side, name in zip("lr", names, strict=True))
    lead = (
        "<p>Tags and texts that were paired stand in one row. <del>Gone</del> is what only the left page has, <ins>new</ins> what only the"
        ' right page has, and what <a class="reworded">differs</a> in a pair is marked. White space that nobody sees is not marked.</p>'
    )
    view = f'<div class="view trees"><div class="row head">{heads}</div>{trees_html(comparison.tags)}</div>'
    return _section("texts", "Tags side by side", lead + view)


def _passages(comparison: Comparison, names: tuple[str, str]) -> str:
    if comparison.containment is None:
        return ""
    shares = " and ".join(
        f"{shown_share(comparison.containment[side])} of <bdi>{escaped(name)}</bdi>"
        for side, name in zip(("left", "right"), names, strict=True)
    )
    items = "".join(
        f"<li><q>{_excerpt(str(comparison.left), left)}</q> {_jump('left', n, left)} {_jump('right', n, right)}</li>"
        for n, (left, right) in enumerate(comparison.passages[:MAX_PASSAGES], 1)
    )
    more = len(comparison.passages) - MAX_PASSAGES
    rest = f"<p>… and {more:,} more, not listed here.</p>" if more > 0 else ""
    count = len(comparison.passages)
    lead = f"<p>{count:,} shared passage{'' if count == 1 else 's'}, which {'makes' if count == 1 else 'make'} up {shares}.</p>"
    return _section("passages", "Shared passages", f"{lead}<ol>{items}</ol>{rest}" if count else "<p>None.</p>")


def _jump(side: str, number: int, span: Span) -> str:
    return f'<a class="jump" href="#{side[0]}p{number}">{side} {span[0]:,}–{span[1]:,}</a>'


def _excerpt(text: str, span: Span) -> str:
    start, end = span
    if end - start <= EXCERPT:
        return escaped(" ".join(text[start:end].split()))
    half = EXCERPT // 2
    return escaped(" ".join(text[start : start + half].split())) + " … " + escaped(" ".join(text[end - half : end].split()))


def _measures(comparison: Comparison) -> str:
    rows = "".join(
        _row(escaped(name), _number("–"), _cell("not computed, see the notes"), "")
        if value is None
        else _row(escaped(name), _number(shown_score(value)), _cell(_bar(value)), _cell(about(comparison.kind, name), "about"))
        for name, value in comparison.measures.items()
    )
    if not rows or comparison.kind != "text":
        return _section("measures", "Measures", rows and f"<table>{rows}</table>")
    # A page of similarities explains nothing to most readers: the score is above, and what it is made of beside it.
    count = len(comparison.measures)
    summary = f"{count} measure{'' if count == 1 else 's'} of similarity, from 0 to 1; none of them is part of the score"
    return _section("measures", "Measures", f"<details><summary>{summary}</summary><table>{rows}</table></details>")


def _fields(comparison: Comparison, names: tuple[str, str]) -> str:
    heads = "".join(f'<th scope="col">{title}</th>' for title in ("field", *map(escaped, names), "similarity", "", "measure", "weight"))
    rows = "".join(
        _row(
            escaped(name),
            _cell(_value(comparison.left, name), "value"),
            _cell(_value(comparison.right, name), "value"),
            _number(shown_score(part.similarity)),
            _cell(_bar(part.similarity)),
            _cell(escaped(part.measure)),
            _number(f"{part.weight:g}"),
        )
        for name, part in comparison.parts.items()
    )
    return _section("fields", "Fields", f'<div class="wide"><table><thead><tr>{heads}</tr></thead>{rows}</table></div>')


def _value(record: Any, name: str) -> str:
    if not isinstance(record, Mapping) or name not in record:
        return "<i>missing</i>"
    value = record[name]
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)
    more = f" <i>… {len(shown) - MAX_VALUE:,} more characters</i>" if len(shown) > MAX_VALUE else ""
    return escaped(shown[:MAX_VALUE]) + more


def _notes(comparison: Comparison) -> str:
    items = "".join(f"<li>{escaped(note)}</li>" for note in comparison.notes)
    return _section("notes", "Notes", items and f"<ul>{items}</ul>")


def _signature(comparison: Comparison) -> str:
    items = " · ".join(f"{escaped(name)} <code>{escaped(value)}</code>" for name, value in comparison.signature.items())
    return f'<footer class="signature">Signature: {items}. Numbers with the same signature can be compared.</footer>'
