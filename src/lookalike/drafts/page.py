"""The report as one HTML page: no scripts, nothing from the network, legible in light, dark and print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING

from lookalike.comparison.escaping import attribute, escaped
from lookalike.drafts import plots
from lookalike.drafts.aggregate import Summary
from lookalike.drafts.edit_share import METHOD
from lookalike.drafts.judge import VERDICTS, Bounds
from lookalike.figures import shown_share
from lookalike.version import __version__

if TYPE_CHECKING:
    from lookalike.drafts.report import FeedbackReport

SHOWN_GROUPS = 20
SHOWN_PROBLEMS = 50


def page(report: FeedbackReport, title: str) -> str:
    points = report.periods.points()
    sections = [
        _cards(report.summary),
        _legend(report.bounds),
        _section("Distribution", "How many pairs have which edit share.", plots.distribution(report.summary)),
        *(_groups(name, report.by(name)) for name in report.groups),
    ]
    if points:
        plot = plots.over_time(report.periods.unit, points)
        sections.append(_section("Over time", "Shares of the verdicts; the line is the mean edit share.", plot))
    sections += [_most_edited(report), _passages(report), _problems(report)]
    range_ = ", {} to {}".format(*report.periods.range) if report.periods.range else ""
    heading = f"<h1>{escaped(title)}</h1><p class=muted>{report.pairs:,} pairs of a draft and its final text{range_}</p>"
    footer = f"<footer><small>lookalike {escaped(__version__)} · {escaped(METHOD)} · medians to three decimals</small></footer>"
    style = files("lookalike.drafts").joinpath("page.css").read_text("utf-8")
    head = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{attribute(title)}</title><style>{style}</style></head>"
    )
    return f"{head}<body>{heading}{''.join(sections)}{footer}</body></html>\n"


def _cards(summary: Summary) -> str:
    cards = (
        ("usable: as is, after a light edit, or extended", summary.usable),
        ("edit share, median", summary.edit_share.median),
        ("edit share, mean", summary.edit_share.mean),
        ("of a draft kept, mean", summary.kept.mean),
        ("of a draft moved, mean", summary.totals["moved"] / summary.pairs if summary.pairs else 0),
        ("added to a draft, median", summary.added.median),
    )
    return f"<div class=cards>{''.join(f'<div><b>{escaped(shown_share(value))}</b>{name}</div>' for name, value in cards)}</div>"


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
    return f"<ul class=legend>{''.join(items)}</ul>"


def _section(title: str, lead: str, body: str) -> str:
    return f"<h2>{escaped(title)}</h2><p class=muted>{escaped(lead)}</p>{body}"


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
    table = _table((name, "pairs", "usable", "edit share", "median", "kept", "added"), rows, numbers=range(1, 7))
    return _section(f"By {name}", f"Shares of the verdicts.{rest}", plots.groups(name, shown) + table)


def _most_edited(report: FeedbackReport) -> str:
    if not report.most_edited:
        return ""
    rows = [
        (pair.row.id, pair.row.verdict, shown_share(pair.row.edit_share), shown_share(pair.row.kept), pair.draft, pair.final)
        for pair in report.most_edited
    ]
    table = _table(("id", "verdict", "edit share", "kept", "the draft begins", "the final text begins"), rows, numbers=(2, 3))
    return _section("Most edited", "The pairs with the largest edit share.", table)


def _passages(report: FeedbackReport) -> str:
    if not report.deleted_passages:
        return ""
    rows = [
        (found.text, f"{found.count:,}", f"{found.deleted:,}", f"{found.reworded:,}", ", ".join(found.ids))
        for found in report.deleted_passages
    ]
    table = _table(("passage", "pairs", "deleted", "reworded", "for example in"), rows, numbers=(1, 2, 3))
    return _section("Often removed", "Sentences and clauses of drafts that people deleted or replaced in several pairs.", table)


def _problems(report: FeedbackReport) -> str:
    if not report.problem_counts:
        return ""
    counts = "; ".join(f"{kind}: {count:,}" for kind, count in report.problem_counts.items())
    rows = [(problem.place, problem.kind, problem.message) for problem in report.problems[:SHOWN_PROBLEMS]]
    total = sum(report.problem_counts.values())
    more = f" The first {SHOWN_PROBLEMS} of {total:,}." if total > SHOWN_PROBLEMS else ""
    lead = f"{report.skipped:,} pairs are not in the numbers. {counts}.{more}"
    return _section("Problems with the input", lead, _table(("where", "what", ""), rows))


def _table(headers: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Iterable[int] = ()) -> str:
    right = set(numbers)
    style = [" class=n" if i in right else "" for i in range(len(headers))]
    head = "".join(f"<th{style[i]}>{escaped(header)}</th>" for i, header in enumerate(headers))
    # On a narrow screen each row is a card, and each cell says what it is.
    names = [f' data-name="{attribute(header)}"' for header in headers]
    body = "".join(f"<tr>{''.join(f'<td{style[i]}{names[i]}>{escaped(cell)}</td>' for i, cell in enumerate(row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
