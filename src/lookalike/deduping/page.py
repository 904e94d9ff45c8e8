"""The report as one HTML page: no scripts, nothing from the network, legible in light, dark and print."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from lookalike.comparison.edits import edits
from lookalike.comparison.escaping import attribute, escaped
from lookalike.comparison.side_by_side import SideBySide
from lookalike.deduping.plots import Bar, lying, upright
from lookalike.figures import counted, shown_score, shown_share
from lookalike.version import __version__

if TYPE_CHECKING:
    from lookalike.deduping.report import DedupeReport, Sample

SHOWN_CLUSTERS = 10
SHOWN_PROBLEMS = 50
SHOWN_NEAREST = 10
SHOWN_CHARACTERS = 10_000  # of a text
SIMILARITY_BARS = 10
LEGEND = (
    "<p class=muted>The kept text on the left, the removed one on the right. <del>Only in the kept one</del>,"
    ' <ins>only in the removed one</ins>, <a class="reworded">worded otherwise</a>, <a class="moved">at another place</a>.</p>'
)
RULES = {
    "exact": "exact: duplicates have equal words; case, width, punctuation and white space do not count",
    "bytes": "bytes: duplicates are equal to the byte",
}


def page(report: DedupeReport, title: str) -> str:
    found = report.to_dict()
    sections = [
        _cards(found),
        _similarities(report),
        _sizes(report),
        _samples(report),
        _hot_buckets(found),
        _stages(found),
        _problems(report),
    ]
    settings = ", ".join(f"{name} {value}" for name, value in found["settings"].items())
    rule = f"<p class=muted>{escaped(RULES[report.settings.method])}.</p>" if report.settings.method in RULES else ""
    heading = f"<h1>{escaped(title)}</h1><p class=muted>{escaped(settings)}</p>{rule}"
    # The marks of a comparison first; what the page itself says comes behind them.
    style = "".join(
        files(package).joinpath(name).read_text("utf-8")
        for package, name in (("lookalike.comparison", "report.css"), ("lookalike.deduping", "page.css"))
    )
    head = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{attribute(title)}</title><style>{style}</style></head>"
    )
    footer = f"<footer><small>lookalike {escaped(__version__)}</small></footer>"
    return f"{head}<body>{heading}{''.join(sections)}{footer}</body></html>\n"


def _cards(found: dict[str, Any]) -> str:
    share = found["removed"] / (found["kept"] + found["removed"]) if found["removed"] else 0
    unit = {"document": "documents", "paragraph": "paragraphs", "line": "lines"}[found["settings"]["level"]]
    cards = [
        ("documents read", f"{found['documents']:,}"),
        (f"{unit} kept", f"{found['kept']:,}"),
        (f"{unit} removed", f"{found['removed']:,}"),
        ("removed", shown_share(share)),
        ("clusters", f"{found['clusters']:,}"),
        ("pairs compared", f"{found['compared']:,}"),
    ]
    others = (("without_text", "rows without text"), ("empty_texts", "empty texts"), ("skipped", "rows skipped"))
    cards += [(name, f"{found[key]:,}") for key, name in others if found[key]]
    return f"<div class=cards>{''.join(f'<div><b>{value}</b>{name}</div>' for name, value in cards)}</div>"


def _section(title: str, lead: str, body: str) -> str:
    return f"<h2>{escaped(title)}</h2><p class=muted>{escaped(lead)}</p>{body}"


def _similarities(report: DedupeReport) -> str:
    import numpy as np

    similarities = report.verdicts.decisions.similarities[report.verdicts.removed_numbers()]
    if not len(similarities):
        return ""
    copies = int((similarities == 1).sum())
    below = similarities[similarities < 1]
    bars = []
    if len(below):
        low = min(report.settings.threshold, float(below.min())) if report.settings.method != "simhash" else float(below.min())
        edges = np.linspace(np.floor(low * 100) / 100, 1, SIMILARITY_BARS + 1)
        pairs = zip(np.histogram(below, edges)[0].tolist(), edges.tolist(), edges[1:].tolist(), strict=False)
        bars = [Bar(f"{first:.2f}", count, f"{first:.3f} to {last:.3f}: {count:,}") for count, first, last in pairs]
    lead = "How similar the removed ones are to the kept one they point at. The last bar counts those with similarity 1."
    return _section("Similarity", lead, upright("Similarity of the removed", [*bars, Bar("1", copies, f"similarity 1: {copies:,}")]))


def _sizes(report: DedupeReport) -> str:
    sizes = report.cluster_sizes()
    if not len(sizes):
        return ""
    bars, low = [], 2
    while low <= int(sizes[0]):
        high = low if low < 4 else 2 * low - 1
        count = int(((sizes >= low) & (sizes <= high)).sum())
        name = str(low) if low == high else f"{low}–{high}"
        bars.append(Bar(name, count, f"{name}: {counted(count, 'cluster')}"))
        low = high + 1
    lead = f"How many {report.unit} a cluster has, the kept one included. The largest has {int(sizes[0]):,}."
    return _section("Cluster sizes", lead, upright("Cluster sizes", bars))


def _samples(report: DedupeReport) -> str:
    clusters, nearest = report.samples(SHOWN_CLUSTERS, SHOWN_NEAREST)
    views = _Views()
    parts = []
    if nearest:
        rule = {"simhash": f"at most {report.settings.distance} bits differ"}.get(
            report.settings.method, f"the similarity is at least {report.settings.threshold:g}"
        )
        lead = (
            f"What was removed with the lowest similarity, from different clusters. A document goes if {rule}: if these are no duplicates,"
            " be stricter; if they all are, you may be less strict."
        )
        parts.append(_section("Nearest to the threshold", lead, LEGEND + "".join(map(views.pair, nearest))))
    if clusters:
        shown = "".join(
            f"<h3>{_shown(cluster.kept)} <small>· {len(cluster.removed):,} removed</small></h3>{views.pair(sample)}"
            for cluster, sample in clusters
        )
        lead = "Each with the least similar one that was removed."
        parts.append(_section("The largest clusters", lead, (LEGEND if not nearest else "") + shown))
    return "".join(parts)


class _Views:
    """Pairs beside each other, marked as a comparison marks them."""

    def __init__(self) -> None:
        self._count = 0

    def pair(self, sample: Sample) -> str:
        self._count += 1
        similarity = f"<span>similarity {shown_score(sample.similarity)}</span>"
        heads = (f"kept: {_shown(sample.kept_id)}", f"removed: {_shown(sample.removed_id)} {similarity}")
        if sample.kept is None:
            only = escaped(sample.removed[:SHOWN_CHARACTERS])
            rows = f'<div class="row"><div class="l"><i>in the store</i></div><div class="r">{only}</div></div>'
        else:
            left, right = sample.kept[:SHOWN_CHARACTERS], sample.removed[:SHOWN_CHARACTERS]
            rows = SideBySide(left, right, edits(left, right), (), ((), ())).html()
            # Places are named within a pair; here there are many. No text of the user can look like these: its quotes are escaped.
            rows = re.sub(r'(id="|href="#)(?=[lr]\d)', rf"\g<1>p{self._count}-", rows)
        top = "".join(f'<div class="{side}">{head}</div>' for side, head in zip("lr", heads, strict=True))
        is_cut = max(len(sample.kept or ""), len(sample.removed)) > SHOWN_CHARACTERS
        cut = f'<div class="fold left-out">The first {SHOWN_CHARACTERS:,} characters of each are shown.</div>' if is_cut else ""
        return f'<div class="view"><div class="row head">{top}</div>{rows}{cut}</div>'


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
    return _section("Hot buckets", lead, _table(("band", "refused", "for example"), rows, numbers=(0, 1)))


def _stages(found: dict[str, Any]) -> str:
    bars = [Bar(name, seconds, f"{seconds:.2f} s") for name, seconds in found["stages"].items()]
    return _section("Time", f"{found['seconds']:.1f} seconds in all.", lying("Seconds by stage", bars))


def _problems(report: DedupeReport) -> str:
    if not report.problem_counts:
        return ""
    counts = "; ".join(f"{kind}: {count:,}" for kind, count in report.problem_counts.items())
    total = sum(report.problem_counts.values())
    more = f" The first {SHOWN_PROBLEMS} of {total:,}." if total > SHOWN_PROBLEMS else ""
    rows = [(problem.place, problem.kind, problem.message) for problem in report.problems[:SHOWN_PROBLEMS]]
    return _section("Problems with the input", f"Skipped: {report.skipped:,}. {counts}.{more}", _table(("where", "what", ""), rows))


def _table(headers: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Iterable[int] = ()) -> str:
    right = set(numbers)
    style = [" class=n" if i in right else "" for i in range(len(headers))]
    head = "".join(f"<th{style[i]}>{escaped(header)}</th>" for i, header in enumerate(headers))
    body = "".join(f"<tr>{''.join(f'<td{style[i]}>{escaped(cell)}</td>' for i, cell in enumerate(row))}</tr>" for row in rows)
    return f"<div class=wide><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
