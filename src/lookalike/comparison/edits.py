"""What became of a text: kept, moved, reworded and deleted on the left, inserted on the right.

Both texts are cut into words, ideographs and punctuation marks; white space does not count. Runs of them that stand on both
sides in the same order are kept, and what stands elsewhere is moved: native/edits says how. What is left of a gap between two kept
runs was replaced if both sides have text there. It was reworded if the sentence around it is still recognisable; otherwise one text
was deleted and another one inserted. The rule looks at sentences, so all that was replaced in one is treated alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple, get_args

from lookalike import _native
from lookalike.comparison.likeness import in_common, trigrams
from lookalike.comparison.sides import Side
from lookalike.lazy import uncollected
from lookalike.model import Span

# A sentence is recognisable if this share of its longer side was kept, or became similar words in the same place.
RECOGNISABLE = 0.35

Kind = Literal["kept", "moved", "reworded", "deleted", "inserted"]
KINDS: tuple[Kind, ...] = get_args(Kind)  # in the order of native/edits/edited_tokens.hpp


class Segment(NamedTuple):
    """A stretch of one text and what became of it; ``partner`` is where its counterpart stands in the other text."""

    kind: Kind
    span: Span
    partner: Span | None


@dataclass(frozen=True, slots=True)
class Edits:
    """Shares of characters, and the stretches of both texts.

    ``kept``, ``moved``, ``reworded`` and ``deleted`` are shares of the left text and add up to 1; ``inserted`` is a share
    of the right text. Two texts without characters count as kept. ``added`` is what the right text has beyond the left one, in
    terms of the left text: inserted text, and what reworded text is longer by.
    """

    kept: float
    deleted: float
    inserted: float
    moved: float
    reworded: float
    left: tuple[Segment, ...]
    right: tuple[Segment, ...]
    added: float = 0.0

    def to_dict(self) -> dict[str, float]:
        """The shares."""
        return {name: getattr(self, name) for name in ("kept", "deleted", "inserted", "moved", "reworded")}

    def segments(self) -> dict[str, list[dict[str, Any]]]:
        """The stretches of both texts, for JSON."""
        return {side: [_segment_dict(segment) for segment in getattr(self, side)] for side in ("left", "right")}


def _segment_dict(segment: Segment) -> dict[str, Any]:
    return {"kind": segment.kind, "span": list(segment.span), "partner": list(segment.partner) if segment.partner else None}


def edits(left: str, right: str) -> Edits:
    """What became of ``left`` in ``right``."""
    return edits_of(Side(left), Side(right))


def edits_of(a: Side, b: Side) -> Edits:
    """The same of texts that are tokens already."""
    found = _native.EditedTokens(a.columns, b.columns)
    recognisable = [_is_recognisable(a, b, *sentence) for sentence in found.doubtful()]
    as_segment = partial(tuple.__new__, Segment)  # there may be a hundred thousand, and Segment(…) takes five times as long
    with uncollected():
        lefts, rights, was, now = found.segments(recognisable, KINDS)
        left, right = tuple(map(as_segment, lefts)), tuple(map(as_segment, rights))
    return Edits(**_shares(dict(zip(KINDS, was, strict=True)), dict(zip(KINDS, now, strict=True))), left=left, right=right)


def _is_recognisable(a: Side, b: Side, same: int, longer: int, replaced: list[tuple[list[int], list[int]]]) -> bool:
    """Whether enough of the replaced words of a sentence are similar."""
    return same + sum(similar(a, b, *gap) for gap in replaced) >= RECOGNISABLE * (same + longer)


def similar(a: Side, b: Side, left: list[int], right: list[int]) -> float:
    """How many characters of these tokens became similar words."""
    olds, news = ([side.word(token) for token in tokens] for side, tokens in ((a, left), (b, right)))
    was, now = sum(map(len, olds)), sum(map(len, news))
    old, new = trigrams(map(str.lower, olds)), trigrams(map(str.lower, news))
    return float(in_common(old, new) * 2 * min(was, now) / (was + now))


def _shares(was: dict[Kind, int], now: dict[Kind, int]) -> dict[str, float]:
    """Of the characters of each kind on both sides."""
    before, after = sum(was.values()), sum(now.values())
    shares = {kind: was[kind] / before if before else 0.0 for kind in ("kept", "moved", "reworded", "deleted")}
    if not before and not after:
        shares["kept"] = 1.0
    added = now["inserted"] + max(0, now["reworded"] - was["reworded"])
    return shares | {"inserted": now["inserted"] / after if after else 0.0, "added": added / before if before else 0.0}
