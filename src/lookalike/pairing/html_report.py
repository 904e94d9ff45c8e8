"""The pairs as a page that can be explored: ranked list, histogram with a threshold, graph, matrix, and each pair side by side.

One file, without a request to anywhere. The texts are in it, compressed; the browser unpacks them. Without a script
the ranked list is shown.
"""

from __future__ import annotations

import base64
import gzip
import json
from importlib import resources
from typing import Any

from lookalike.figures import counted, shown_score, shown_share
from lookalike.pairing.report import Pair, PairsReport
from lookalike.reports.document import document, footer, heading
from lookalike.reports.escaping import escaped, printable
from lookalike.reports.tables import Markup, table

MOST_PAIRS = 5_000  # in the page
MOST_BYTES = 3_500_000  # of compressed texts: a page of 5 MB
LISTED = 200  # pairs without a script
MOST_PASSAGES = 500  # of one pair
_STATES = ("ignored", "left out", "common")


def page(report: PairsReport, anonymous: bool, title: str) -> str:
    names = _names(report.ids, anonymous)
    shown = title or "Shared passages"
    lead = f"{counted(len(report.things), 'document')}, {counted(report.total, 'pair')} with something in common."
    body = (
        f'<div id="app">{heading(shown, lead)}{_list(report, names)}</div>'
        f'<script type="application/octet-stream" id="data">{_packed(_data(report, names, anonymous, title))}</script>'
        f"{footer(*_facts(report))}"
    )
    return document(shown, body, own_style=_resource("pairs.css"), own_script=_resource("pairs.js"))


def _names(ids: list[str], anonymous: bool) -> dict[str, str]:
    """What the things are called: numbers, or their ids without the folder that they all are in."""
    folders = [id_.split("/")[:-1] for id_ in ids]
    common = next((n for n, names in enumerate(zip(*folders, strict=False)) if len(set(names)) > 1), min(map(len, folders)))
    shown = [f"#{number}" if anonymous else "/".join(id_.split("/")[common:]) for number, id_ in enumerate(ids, 1)]
    return dict(zip(ids, shown, strict=True))


def _facts(report: PairsReport) -> tuple[str, ...]:
    if report.kind == "record":
        return ()
    settings = report.settings
    return (
        f"passages of {settings['min_length']} tokens or more",
        f"surprise of {settings['min_surprise']:g} bits or more",
        f"what more than {settings['common']} have does not count",
    )


def _resource(name: str) -> str:
    return resources.files("lookalike.pairing").joinpath(name).read_text(encoding="utf-8")


def _packed(data: dict[str, Any]) -> str:
    encoded = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return base64.b64encode(gzip.compress(encoded, 9, mtime=0)).decode()


def _list(report: PairsReport, names: dict[str, str]) -> str:
    rows = [
        (
            shown_score(pair.score, 2),
            Markup(_bdi(names[pair.left])),
            Markup(_bdi(names[pair.right])),
            *map(shown_share, pair.containment),
            str(len(pair.passages)),
        )
        for pair in report.pairs[:LISTED]
    ]
    return table(rows, ("score", "left", "right", "of left", "of right", "passages"), numbers=(0, 3, 4, 5)) if rows else ""


def _bdi(name: str) -> str:
    return f"<bdi>{escaped(name)}</bdi>"


def _data(report: PairsReport, names: dict[str, str], anonymous: bool, title: str) -> dict[str, Any]:
    place = {id_: at for at, id_ in enumerate(report.ids)}
    pairs = report.pairs[:MOST_PAIRS]
    texts = _texts(report, pairs)
    return {
        "title": title,
        "kind": report.kind,
        "total": report.total,
        "threshold": report.threshold,
        "notes": [] if anonymous else report.notes,
        "things": [
            {
                "name": printable(names[thing.id]),
                "parts": [{"name": "" if anonymous else printable(_below(part.name, thing.id)), "text": part.text} for part in thing.parts]
                if thing.id in texts
                else None,
                "masks": [[part, *span, _STATES.index(why)] for part, span, why in report.masks.get(thing.id, ())]
                if thing.id in texts
                else [],
            }
            for thing in report.things
        ],
        "pairs": [[place[pair.left], place[pair.right], round(pair.score, 6), *_figures(pair)] for pair in pairs],
        "common": [[each.things, _common_text(report, each)] for each in report.common[:50]],
    }


def _below(name: str, thing: str) -> str:
    """The name of a part within its submission; nothing where it is the thing itself."""
    return "" if name == thing else name.removeprefix(f"{thing}/")


def _figures(pair: Pair) -> list[Any]:
    shares = [round(share, 4) for share in pair.containment]
    passages = [
        [each.left_part, *each.left, each.right_part, *each.right, each.tokens, round(each.surprise)]
        for each in pair.passages[:MOST_PASSAGES]
    ]
    return [*shares, pair.shared, passages]


def _common_text(report: PairsReport, common: Any) -> str:
    thing = next(thing for thing in report.things if thing.id == common.id)
    text: str = thing.parts[common.part].text[slice(*common.span)]
    return " ".join(text[:300].split())


def _texts(report: PairsReport, pairs: list[Pair]) -> set[str]:
    """Whose texts are in the page: those of the best pairs, as long as there is room."""
    by_id = {thing.id: thing for thing in report.things}
    taken: set[str] = set()
    room = MOST_BYTES
    for pair in pairs:
        for id_ in (pair.left, pair.right):
            if id_ in taken or not pair.passages:
                continue
            size = len(gzip.compress("".join(part.text for part in by_id[id_].parts).encode("utf-8", "replace"), 6)) * 4 // 3
            if size <= room:
                room -= size
                taken.add(id_)
    return taken
