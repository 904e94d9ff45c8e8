"""The report as one HTML page: no scripts, nothing from the network, legible in light, dark and print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from lookalike.comparison.escaping import attribute, escaped
from lookalike.deduping.plots import Bar, lying, upright
from lookalike.figures import shown_score, shown_share
from lookalike.version import __version__

if TYPE_CHECKING:
    from lookalike.deduping.report import DedupeReport, Sample

SHOWN_CLUSTERS = 10
SHOWN_PROBLEMS = 50
SHOWN_WORDS = 120  # of a text
SIMILARITY_BARS = 10


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
    heading = f"<h1>{escaped(title)}</h1><p class=muted>{escaped(settings)}</p>"
    style = files("lookalike.deduping").joinpath("page.css").read_text("utf-8")
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
    low = float(below.min()) if len(below) else 1.0
    low = np.floor(low * 20) / 20
    edges = np.linspace(low, 1, SIMILARITY_BARS + 1) if len(below) else np.zeros(0)
    counts = np.histogram(below, edges)[0] if len(below) else np.zeros(0)
    bars = [Bar(f"{edges[i]:.2f}", float(count), f"{edges[i]:.3f} to {edges[i + 1]:.3f}: {int(count):,}") for i, count in enumerate(counts)]
    lead = "Similarity of each removed one to the kept one it points at; the last bar are those with similarity 1."
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
        bars.append(Bar(name, count, f"{name}: {count:,} clusters"))
        low = high + 1
    lead = f"How many a cluster has, the kept one included. The largest has {int(sizes[0]):,}."
    return _section("Cluster sizes", lead, upright("Cluster sizes", bars))


def _samples(report: DedupeReport) -> str:
    parts = []
    for cluster, sample in report.samples(SHOWN_CLUSTERS):
        count = len(cluster.removed)
        parts.append(f"<h3>{_shown(cluster.kept)} <small>· {count:,} removed</small></h3>{_side_by_side(sample)}")
    if not parts:
        return ""
    lead = "The kept one on the left, one of the removed on the right; words that differ are marked."
    return _section("The largest clusters", lead, "".join(parts))


def _side_by_side(sample: Sample) -> str:
    left, right = sample.kept.split()[:SHOWN_WORDS], sample.removed.split()[:SHOWN_WORDS]
    marked: tuple[list[str], list[str]] = ([], [])
    for kind, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        for side, words in zip(marked, (left[a:b], right[c:d]), strict=True):
            if words:
                text = escaped(" ".join(words))
                side.append(text if kind == "equal" else f"<mark>{text}</mark>")
    heads = (f"kept: {_shown(sample.kept_id)}", f"removed: {_shown(sample.removed_id)}, similarity {shown_score(sample.similarity)}")
    cut = (len(sample.kept.split()) > SHOWN_WORDS, len(sample.removed.split()) > SHOWN_WORDS)
    sides = zip(heads, marked, cut, strict=True)
    boxes = (f"<div><small>{head}</small>{' '.join(words)}{' …' if more else ''}</div>" for head, words, more in sides)
    return f"<div class=sides>{''.join(boxes)}</div>"


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
    return _section(
        "Problems with the input", f"{report.skipped:,} rows were skipped. {counts}.{more}", _table(("where", "what", ""), rows)
    )


def _table(headers: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Iterable[int] = ()) -> str:
    right = set(numbers)
    style = [" class=n" if i in right else "" for i in range(len(headers))]
    head = "".join(f"<th{style[i]}>{escaped(header)}</th>" for i, header in enumerate(headers))
    body = "".join(f"<tr>{''.join(f'<td{style[i]}>{escaped(cell)}</td>' for i, cell in enumerate(row))}</tr>" for row in rows)
    return f"<div class=wide><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
