"""One pair, judged: what became of the draft, and what that is called."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple

from lookalike.checks import check_several, is_number
from lookalike.comparison.edits import Edits, edits
from lookalike.drafts.edit_share import edit_share
from lookalike.drafts.pairs import DraftPair, has_words
from lookalike.errors import InputError
from lookalike.text.forms import UNSEEN, rewrite

VERDICTS = ("used as is", "light edit", "extended", "heavy edit", "rewritten", "discarded")  # from the best to the worst
USABLE = VERDICTS[:3]
BOUNDED = tuple(name for name in VERDICTS if name not in ("extended", "discarded"))
SHARES = ("kept", "moved", "reworded", "deleted", "inserted")
LEAST_USABLE = 0.5  # the share of a usable draft that was kept or moved

EXCERPT = 160  # characters of a text that reports show
MAX_PASSAGE = 200
MAX_PASSAGES = 200  # of one pair
_CLAUSE = re.compile(r"[^,;:.!?\n，、；：。！？…—]+")
_SENTENCE = re.compile(r"[^.!?\n。！？…]+")


@dataclass(frozen=True, slots=True)
class Bounds:
    """The largest edit share of each verdict; above the last one a draft was discarded.

    Chosen on the labelled pairs of docs/feedback.md: texts about other things have an edit share above .9, texts that a
    person rewrote from a source between .7 and .9, and of those that people call equivalent most are below .3.
    """

    as_is: float = 0.0
    light: float = 0.3
    heavy: float = 0.7
    rewritten: float = 0.9

    def __post_init__(self) -> None:
        values = self.values
        if not all(is_number(value) and 0 <= value <= 1 for value in values):
            raise InputError(f"bounds={values!r}: choose numbers from 0 to 1")
        if list(values) != sorted(values):
            raise InputError(f"bounds={values!r}: they must ascend: as is, light, heavy, rewritten")

    @property
    def values(self) -> tuple[float, float, float, float]:
        return self.as_is, self.light, self.heavy, self.rewritten

    @classmethod
    def of(cls, value: Bounds | Iterable[float] | None) -> Bounds:
        if value is None:
            return cls()
        if isinstance(value, Bounds):
            return value
        numbers = list(check_several("bounds", value, "four numbers: as is, light, heavy, rewritten"))
        if len(numbers) != 4:
            raise InputError(f"bounds={value!r}: give four numbers: as is, light, heavy, rewritten")
        return cls(*numbers)

    def verdict(self, edit_share: float, kept: float, moved: float, reworded: float, added: float) -> str:
        """What the numbers of a pair are called. More kept or less edited never gives a worse verdict.

        What became of the draft decides, not what was added to it: the edit share counts, or that of the draft alone, whichever
        is less. A draft of which less than half is left is not usable, however similar the new words are.
        """
        share = min(edit_share, draft_share(kept, moved, reworded))
        if edit_share == 0 or kept + moved >= min(LEAST_USABLE, 1 - self.light):
            if edit_share <= self.as_is:
                return "used as is"
            if share <= self.light:
                return "extended" if edit_share > self.light and added > 0 else "light edit"
        return "heavy edit" if share <= self.heavy else "rewritten" if share <= self.rewritten else "discarded"

    def to_dict(self) -> dict[str, float]:
        return dict(zip(BOUNDED, self.values, strict=True))


def draft_share(kept: float, moved: float, reworded: float) -> float:
    """The edit share without what was added: deleted text counts, reworded text counts twice, and a move counts half."""
    deleted = max(0.0, 1 - kept - moved - reworded)
    edited = deleted + 2 * reworded + moved / 2
    return edited / (edited + kept + moved / 2)


class DraftRow(NamedTuple):
    """What became of one draft. ``kept`` … ``deleted`` and ``added`` are in terms of the draft, ``inserted`` of the final text.

    ``added`` is what the final text has beyond the draft: inserted text, and what reworded text is longer by. It can exceed 1.
    ``form`` is how much larger the edit share would be if the ignored forms counted.
    """

    id: str
    verdict: str
    edit_share: float
    kept: float
    moved: float
    reworded: float
    deleted: float
    inserted: float
    added: float
    form: float
    draft_characters: int
    final_characters: int
    time: date | None
    groups: dict[str, str | None]
    place: str

    def to_dict(self) -> dict[str, Any]:
        """Flat: the columns of the pair stand beside the numbers."""
        numbers = {name: _rounded(getattr(self, name)) for name in ("edit_share", *SHARES, "added", "form")}
        sizes = {"draft_characters": self.draft_characters, "final_characters": self.final_characters}
        time = self.time.isoformat() if self.time else None
        return {"id": self.id, "verdict": self.verdict, **numbers, **sizes, "time": time, **self.groups, "place": self.place}


def _rounded(share: float) -> float:
    """Six decimals; but only nothing is 0."""
    return round(share, 6) or share


ROW_NAMES = frozenset(name for name in DraftRow._fields if name != "groups")  # no group column may have one of these names


class RemovedSentence(NamedTuple):
    """A sentence or clause of a draft that is not in the final text."""

    text: str
    kind: str  # deleted or reworded


class Judged(NamedTuple):
    """The numbers of a pair, and the parts of its texts that a report may show."""

    edit_share: float
    shares: dict[str, float]
    added: float
    form: float
    verdict: str
    removed: list[RemovedSentence]
    excerpts: tuple[str, str]


def judge(draft: str, final: str, bounds: Bounds, forms: tuple[str, ...] = UNSEEN) -> Judged:
    """Everything about a pair that needs its texts; ``forms`` do not count. What was removed of a discarded draft is not listed."""
    excerpts = _excerpt(draft), _excerpt(final)
    if draft == final:
        return Judged(0.0, dict.fromkeys(SHARES, 0.0) | {"kept": 1.0}, 0.0, 0.0, VERDICTS[0], [], excerpts)
    if not has_words(final):
        return Judged(1.0, dict.fromkeys(SHARES, 0.0) | {"deleted": 1.0}, 0.0, 0.0, VERDICTS[-1], [], excerpts)
    was, now = rewrite(draft, forms), rewrite(final, forms)
    found = edits(was.text, now.text)
    share = edit_share(was.text, now.text)
    form = max(0.0, edit_share(draft, final) - share) if was.forms or now.forms else 0.0
    verdict = bounds.verdict(share, found.kept, found.moved, found.reworded, found.added)
    removed = [] if verdict == VERDICTS[-1] else list(_removed(was.text, found))
    return Judged(share, found.to_dict(), found.added, form, verdict, removed, excerpts)


def row_of(pair: DraftPair, judged: Judged) -> DraftRow:
    return DraftRow(
        id=pair.id,
        verdict=judged.verdict,
        edit_share=judged.edit_share,
        **judged.shares,
        added=judged.added,
        form=judged.form,
        draft_characters=len(pair.draft),
        final_characters=len(pair.final),
        time=pair.time,
        groups=pair.groups,
        place=pair.place,
    )


def _excerpt(text: str) -> str:
    # Squeezing white space may take a long text apart: a little more than is shown is enough.
    start = " ".join(text[: 4 * EXCERPT].split())
    return start if len(start) <= EXCERPT and len(text) <= 4 * EXCERPT else start[:EXCERPT] + "…"


def _removed(draft: str, found: Edits) -> Iterator[RemovedSentence]:
    """The sentences of the deleted and reworded stretches, and their clauses where a sentence has several."""
    count = 0
    for segment in found.left:
        if segment.kind not in ("deleted", "reworded"):
            continue
        for text in _passages(draft[slice(*segment.span)]):
            yield RemovedSentence(text, segment.kind)
            count += 1
            if count == MAX_PASSAGES:
                return


def _passages(text: str) -> Iterator[str]:
    for sentence in _SENTENCE.finditer(text):
        whole = _clean(sentence[0])
        if _is_passage(whole):
            yield whole
        clauses = [clause for clause in map(_clean, _CLAUSE.findall(sentence[0])) if _is_passage(clause)]
        if clauses != [whole]:
            yield from clauses


def _clean(text: str) -> str:
    return " ".join(text.split()).strip(" ,;:，、；：—\"'“”‘’()（）")[:MAX_PASSAGE]


def _is_passage(text: str) -> bool:
    """A single short word says nothing."""
    return len(text) >= 6 or (len(text) >= 2 and text[0] > "\u2e7f")
