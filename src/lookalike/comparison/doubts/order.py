"""The same words in another order."""

from __future__ import annotations

from lookalike.comparison.doubts.numbers import dates_written_otherwise
from lookalike.comparison.doubts.saying import Doubt, Said, listed
from lookalike.text.blending import function_words

LEAST_COMMON = 0.8  # of the words: otherwise no order can be compared


def order(left: Said, right: Said) -> Doubt | None:
    """The words that stand once in each text, where they do not come in the same order.

    People move words and mean the same (of Chinese questions with such words, as many mean the same as of others). What changed places with
    something else around what stayed, as in ``Alice owes Bob``, is another matter: only then is the doubt grave.
    """
    common = (left.counts & right.counts).total()
    if common < LEAST_COMMON * max(left.size, right.size):
        return None
    dates = dates_written_otherwise(left.text, right.text)
    once = [word for word in left.places if word in right.places and word not in dates]
    places = [right.places[word] for word in once]
    exchanged = _exchanged(places)
    stretches = _stretches(left, right, {once[at] for at in exchanged or _moved(places)})
    named = [stretch for stretch in stretches if not function_words().issuperset(left.words[slice(*stretch)])]
    if len(named) < (2 if exchanged else 1):  # "A is greater than B": what changed places are two, whatever words they are
        named = stretches
    if named:
        shown = listed([left.written_words(first, end - 1) for first, end in named])
        return Doubt(f"words in another order: {shown}", is_grave=bool(exchanged))
    if left.counts == right.counts and _without(dates, left) != _without(dates, right):
        return Doubt("the same words in another order")
    return None


def _without(dates: set[str], said: Said) -> list[str]:
    return [word for word in said.words if word not in dates]


def _exchanged(places: list[int]) -> set[int]:
    """Those that changed places with another one around a third: the first and the last of three that descend."""
    count = range(len(places))
    after = [[k for k in range(j + 1, len(places)) if places[k] < places[j]] for j in count]  # what now stands before it, and did not
    firsts = {i for i in count if any(after[j] for j in after[i])}
    return firsts | {k for i in firsts for j in after[i] for k in after[j]}


def _moved(places: list[int]) -> set[int]:
    """Which of these must be taken out so that the rest ascends: as few as possible."""
    best: list[tuple[int, int]] = []  # of the sequences that end here: how long it is, and the one before
    for at, place in enumerate(places):
        length, before = max(((best[i][0], i) for i in range(at) if places[i] < place), default=(0, -1))
        best.append((length + 1, before))
    at = max(range(len(best)), key=lambda i: best[i][0], default=-1)
    gone = set(range(len(places)))
    while at >= 0:
        gone.discard(at)
        at = best[at][1]
    return gone


def _stretches(left: Said, right: Said, moved: set[str]) -> list[tuple[int, int]]:
    """The moved words of the left text, together with what follows them in both: 甲方, not 甲."""
    found: list[tuple[int, int]] = []
    kept = left.places.keys() & right.places.keys() - moved
    for word in left.places:
        if word not in moved or (found and left.places[word] < found[-1][1]):
            continue
        here, there = left.places[word] + 1, right.places[word] + 1
        first = here - 1
        while here < left.size and there < right.size and left.words[here] == right.words[there] and left.words[here] not in kept:
            here, there = here + 1, there + 1
        found.append((first, here))
    return found
