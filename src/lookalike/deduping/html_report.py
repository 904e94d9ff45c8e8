"""The report as one HTML page: no scripts, nothing from the network, legible in light, dark and print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from lookalike.comparison.edits import edits
from lookalike.comparison.side_by_side import SideBySide
from lookalike.figures import counted, shown_score, shown_share
from lookalike.reports.document import cards, document, footer, heading, section
from lookalike.reports.escaping import escaped
from lookalike.reports.marks import marked, row, view
from lookalike.reports.plots import Bar, lying, upright
from lookalike.reports.tables import problems as problem_table
from lookalike.reports.tables import table

if TYPE_CHECKING:
    from lookalike.corpus.row import Problem
    from lookalike.deduping.report import Sample, Similarities
    from lookalike.deduping.settings import Criteria

SHOWN_CLUSTERS = 10
SHOWN_NEAREST = 10
SHOWN_CHARACTERS = 10_000  # of a text
SIMILARITY_BARS = 10
LEGEND = (
    f"<p>The kept text on the left, the removed one on the right. {marked('deleted', 'Only in the kept one')},"
    f" {marked('inserted', 'only in the removed one')}, {marked('reworded', 'worded otherwise')},"
    f" {marked('moved', 'at another place')}.</p>"
)
RULES = {
    "exact": "exact: duplicates have equal words; case, width, punctuation and white space do not count",
    "bytes": "bytes: duplicates are equal to the byte",
}


class Shown(Protocol):
    """What the page asks a report, whichever engine made it."""

    @property
    def settings(self) -> Criteria: ...

    @property
    def unit(self) -> str: ...

    @property
    def skipped(self) -> int: ...

    @property
    def problems(self) -> list[Problem]: ...

    @property
    def problem_counts(self) -> dict[str, int]: ...

    def to_dict(self) -> dict[str, Any]: ...

    def similarities(self, bars: int, least: float | None, /) -> Similarities: ...

    def sizes(self) -> list[tuple[int, int]]: ...

    def samples(self, largest: int, nearest: int, /) -> tuple[list[tuple[int, Sample]], list[Sample]]: ...


def page(report: Shown, title: str) -> str:
    found = report.to_dict()
    settings = ", ".join(f"{name} {value}" for name, value in found["settings"].items())
    rule = RULES.get(report.settings.method)
    sections = [
        heading(title, settings),
        f'<p class="soft">{rule}.</p>' if rule else "",
        _cards(found),
        _similarities(report),
        _sizes(report),
        _samples(report),
        _hot_buckets(found),
        _stages(found),
        problem_table(f"Skipped: {report.skipped:,}.", report.problem_counts, report.problems),
        footer(),
    ]
    return document(title, "".join(sections))


def _cards(found: dict[str, Any]) -> str:
    share = found["removed"] / (found["kept"] + found["removed"]) if found["removed"] else 0
    unit = found["unit"]
    figures = [
        ("documents read", f"{found['documents']:,}"),
        (f"{unit} kept", f"{found['kept']:,}"),
        (f"{unit} removed", f"{found['removed']:,}"),
        ("removed", shown_share(share)),
        ("clusters", f"{found['clusters']:,}"),
        ("pairs compared", f"{found['compared']:,}"),
    ]
    others = (("without_text", "rows without text"), ("empty_texts", "empty texts"), ("skipped", "rows skipped"))
    return cards(figures + [(name, f"{found[key]:,}") for key, name in others if found[key]])


def _similarities(report: Shown) -> str:
    found = report.similarities(SIMILARITY_BARS, _least(report) if report.settings.method != "simhash" else None)
    if not found.copies and not found.counts:
        return ""
    pairs = zip(found.counts, found.edges, found.edges[1:], strict=False)
    bars = [Bar(f"{first:.2f}", count, f"{first:.3f} to {last:.3f}: {count:,}") for count, first, last in pairs]
    lead = "How similar the removed ones are to the kept one they point at. The last bar counts those with similarity 1."
    plot = upright("Similarity of the removed", [*bars, Bar("1", found.copies, f"similarity 1: {found.copies:,}")])
    return section("Similarity", plot, lead=lead)


def _least(report: Shown) -> float:
    """The similarity from which on something goes: with contains= that is the share of a reference."""
    contains = report.settings.contains
    return contains.share if contains else report.settings.threshold


def _sizes(report: Shown) -> str:
    sizes = report.sizes()
    if not sizes:
        return ""
    bars, low, largest = [], 2, sizes[-1][0]
    while low <= largest:
        high = low if low < 4 else 2 * low - 1
        count = sum(clusters for size, clusters in sizes if low <= size <= high)
        name = str(low) if low == high else f"{low}–{high}"
        bars.append(Bar(name, count, f"{name}: {counted(count, 'cluster')}"))
        low = high + 1
    lead = f"How many {report.unit} a cluster has, the kept one included. The largest has {largest:,}."
    return section("Cluster sizes", upright("Cluster sizes", bars), lead=lead)


def _samples(report: Shown) -> str:
    clusters, nearest = report.samples(SHOWN_CLUSTERS, SHOWN_NEAREST)
    views = _Views()
    parts = []
    if nearest:
        rule = {"simhash": f"at most {report.settings.distance} bits differ"}.get(
            report.settings.method, f"the similarity is at least {_least(report):g}"
        )
        lead = (
            f"What was removed with the lowest similarity, from different clusters. A document goes if {rule}: if these are no duplicates,"
            " be stricter; if they all are, you may be less strict."
        )
        parts.append(section("Nearest to the threshold", LEGEND + "".join(map(views.pair, nearest)), lead=lead, name="samples"))
    if clusters:
        shown = "".join(
            f"<h3>{_shown(sample.kept_id)} <small>· {removed:,} removed</small></h3>{views.pair(sample)}" for removed, sample in clusters
        )
        lead = "Each with the least similar one that was removed."
        parts.append(section("The largest clusters", ("" if nearest else LEGEND) + shown, lead=lead, name="samples"))
    return "".join(parts)


class _Views:
    """Pairs beside each other, marked as a comparison marks them."""

    def __init__(self) -> None:
        self._count = 0

    def pair(self, sample: Sample) -> str:
        self._count += 1
        similarity = f"<span>similarity {shown_score(sample.similarity)}</span>"
        heads = f"kept: {_shown(sample.kept_id)}", f"removed: {_shown(sample.removed_id)} {similarity}"
        right = sample.removed[:SHOWN_CHARACTERS]
        if sample.kept is None:
            rows = row("<i>in the store</i>", escaped(right))
        else:
            left = sample.kept[:SHOWN_CHARACTERS]
            rows = SideBySide(left, right, edits(left, right), name=f"p{self._count}-").html()
        if max(len(sample.kept or ""), len(sample.removed)) > SHOWN_CHARACTERS:
            rows += f'<div class="fold left-out">The first {SHOWN_CHARACTERS:,} characters of each are shown.</div>'
        return view(heads, rows)


def _shown(value: object) -> str:
    return escaped(str(value))


def _hot_buckets(found: dict[str, Any]) -> str:
    if not found["hot_buckets"]:
        return ""
    rows = [(str(each["band"]), f"{each['refused']:,}", str(each["id"])) for each in found["hot_buckets"]]
    lead = (
        "Buckets with so many kept documents that more were not put in: they are variants of one template below the threshold."
        " A near-duplicate that shares no other bucket may have been missed."
    )
    return section("Hot buckets", table(rows, ("band", "refused", "for example"), numbers=(0, 1)), lead=lead)


def _stages(found: dict[str, Any]) -> str:
    bars = [Bar(name, seconds, f"{seconds:.2f} s") for name, seconds in found["stages"].items()]
    return section("Time", lying("Seconds by stage", bars), lead=f"{found['seconds']:.1f} seconds in all.")
