"""The report as one HTML page: no scripts, nothing from the network, legible in light, dark and print."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookalike.drafts import plots
from lookalike.drafts.aggregate import Summary
from lookalike.drafts.edit_share import METHOD
from lookalike.drafts.judge import VERDICTS, Bounds
from lookalike.figures import counted, shown_share
from lookalike.reports.document import cards, document, footer, heading, section
from lookalike.reports.tables import problems, table

if TYPE_CHECKING:
    from lookalike.drafts.report import FeedbackReport

SHOWN_GROUPS = 20


def page(report: FeedbackReport, title: str) -> str:
    days = ", {} to {}".format(*report.periods.range) if report.periods.range else ""
    verb = "is" if report.skipped == 1 else "are"
    sections = [
        heading(title, f"{report.pairs:,} pairs of a draft and its final text{days}"),
        _cards(report.summary),
        _legend(report.bounds),
        section("Distribution", plots.distribution(report.summary), lead="How many pairs have which edit share."),
        *(_groups(name, report.by(name)) for name in report.groups),
        _over_time(report),
        _most_edited(report),
        _passages(report),
        problems(f"{counted(report.skipped, 'pair')} {verb} not in the numbers.", report.problem_counts, report.problems),
        footer(METHOD, "medians to three decimals", f"forms that do not count: {', '.join(report.forms) or 'none'}"),
    ]
    return document(title, "".join(sections))


def _cards(summary: Summary) -> str:
    figures = (
        ("usable: as is, after a light edit, or extended", summary.usable),
        ("edit share, median", summary.edit_share.median),
        ("edit share, mean", summary.edit_share.mean),
        ("of a draft kept, mean", summary.kept.mean),
        ("of a draft moved, mean", summary.mean("moved")),
        ("added to a draft, median", summary.added.median),
        ("edited in form alone, mean: not in the edit share", summary.mean("form")),
    )
    return cards((name, shown_share(value)) for name, value in figures)


def _over_time(report: FeedbackReport) -> str:
    points = report.periods.points()
    plot = plots.over_time(report.periods.unit, points) if points else ""
    return section("Over time", plot, lead="Shares of the verdicts; the line is the mean edit share.")


def _legend(bounds: Bounds) -> str:
    as_is, light, heavy, rewritten = (f"{bound:.0%}" for bound in bounds.values)
    limits = (
        f"edit share up to {as_is}" if bounds.as_is else "not edited",
        f"up to {light}",
        f"more, but of the draft no more than {light} was edited",
        f"up to {heavy}",
        f"up to {rewritten}",
        "above that",
    )
    items = (
        f'<li><i class="{plots.verdict_class(verdict)}"></i>{verdict} <small>({limit})</small></li>'
        for verdict, limit in zip(VERDICTS, limits, strict=True)
    )
    return f'<ul class="legend">{"".join(items)}</ul>'


def _groups(name: str, summaries: dict[str, Summary]) -> str:
    shown = list(summaries.items())[:SHOWN_GROUPS]
    rest = f" The {SHOWN_GROUPS} largest of {len(summaries):,} groups." if len(summaries) > SHOWN_GROUPS else ""
    rows = [
        (
            value,
            f"{each.pairs:,}",
            *map(shown_share, (each.usable, each.edit_share.mean, each.edit_share.median, each.kept.mean, each.added.median)),
        )
        for value, each in shown
    ]
    figures = table(rows, (name, "pairs", "usable", "edit share", "median", "kept", "added"), numbers=range(1, 7))
    return section(f"By {name}", plots.groups(name, shown) + figures, lead=f"Shares of the verdicts.{rest}")


def _most_edited(report: FeedbackReport) -> str:
    rows = [
        (pair.row.id, pair.row.verdict, shown_share(pair.row.edit_share), shown_share(pair.row.kept), pair.draft, pair.final)
        for pair in report.most_edited
    ]
    headers = ("id", "verdict", "edit share", "kept", "the draft begins", "the final text begins")
    return section("Most edited", "" if not rows else table(rows, headers, numbers=(2, 3)), lead="The pairs with the largest edit share.")


def _passages(report: FeedbackReport) -> str:
    rows = [
        (found.text, f"{found.count:,}", f"{found.deleted:,}", f"{found.reworded:,}", ", ".join(found.ids))
        for found in report.deleted_passages
    ]
    headers = ("passage", "pairs", "deleted", "reworded", "for example in")
    lead = "Sentences and clauses of drafts that people deleted or replaced in several pairs."
    return section("Often removed", "" if not rows else table(rows, headers, numbers=(1, 2, 3)), lead=lead)
