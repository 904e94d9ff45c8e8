"""A scan as a page: copies, families with their relations, pairs with the marks of ``compare``, and what was not read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lookalike.figures import counted, shown_share
from lookalike.reports.document import cards, document, footer, heading, section
from lookalike.reports.escaping import escaped
from lookalike.reports.tables import Markup, table

if TYPE_CHECKING:
    from lookalike.scanning.relations import Family
    from lookalike.scanning.report import ScanReport

MOST = 500  # rows of a table


def page(report: ScanReport) -> str:
    figures = [
        ("files", f"{report.files:,}"),
        ("groups of exact copies", f"{len(report.copies):,}"),
        ("families", f"{len(report.families):,}"),
        ("without text", f"{len(report.skipped):,}"),
    ]
    body = [
        heading(f"Files in {report.folder}", f"{counted(report.read, 'file')} read, {report.unchanged:,} unchanged since the last time."),
        cards(figures),
        _copies(report),
        *(_family(family, number, report) for number, family in enumerate(report.families[:MOST], 1)),
        _rest(len(report.families)),
        _skipped(report),
        footer(),
    ]
    return document(f"Files in {report.folder}", "".join(body), scripted=True)


def _copies(report: ScanReport) -> str:
    rows = [(f"{group[0].bytes:,}", _names([each.id for each in group])) for group in report.copies[:MOST]]
    content = table(rows, ("bytes", "files with the same bytes"), numbers=(0,)) + _rest(len(report.copies)) if rows else ""
    return section("Exact copies", content, name="copies")


def _rest(count: int) -> str:
    """What the page has no room for is not left out without a word."""
    return f"<p>… and {count - MOST:,} more (--json has all).</p>" if count > MOST else ""


def _names(ids: Sequence[str]) -> Markup:
    return Markup("<br>".join(f"<bdi>{escaped(id_)}</bdi>" for id_ in ids))


def _family(family: Family, number: int, report: ScanReport) -> str:
    rows = []
    shown = []
    for entry in family.files[:MOST]:
        relation, other, similarity = family.relations.get(entry.id, ("", "", 1.0))
        rows.append(
            (
                Markup(f"<bdi>{escaped(entry.id)}</bdi>"),
                entry.kind,
                entry.modified,
                relation,
                shown_share(similarity) if relation else "",
                other,
            )
        )
        if markup := report.comparisons.get((other, entry.id)):
            shown.append(f"<details><summary><bdi>{escaped(other)}</bdi> and <bdi>{escaped(entry.id)}</bdi></summary>{markup}</details>")
    content = table(rows, ("file", "kind", "modified", "relation", "similarity", "to"), numbers=(4,))
    content += _rest(len(family.files)) + "".join(shown)
    if family.versions:
        content += "".join(f"<p>Versions, the newest last: {' → '.join(map(escaped, group))}</p>" for group in family.versions)
    return section(f"Family {number}: {counted(len(family.files), 'file')}", content, name="family")


def _skipped(report: ScanReport) -> str:
    rows = [(each["id"], each["kind"], each["status"], each.get("note", "")) for each in report.skipped[:MOST]]
    lead = "Nothing can be said about their contents; their bytes were compared."
    content = table(rows, ("file", "kind", "status", "why")) + _rest(len(report.skipped)) if rows else ""
    return section("Files without text", content, lead=lead, name="skipped")
