"""The edit share, slow and obvious: token by token, from the runs that the aligner found."""

from __future__ import annotations

from array import array
from collections import Counter

import lookalike as la
from lookalike import _native


def tokens(text: str) -> list[str]:
    return [token for token, _, _ in _native.tokenize(text.lower().encode("utf-8", "surrogatepass"), 4, False)]


def trigrams(words: list[str]) -> Counter[str]:
    found: Counter[str] = Counter()
    for word in words:
        if len(word) <= 64:
            form = la.fold(word) if word.isalnum() else word
            padded = f" {form} "
            found.update(padded[i : i + 3] for i in range(len(padded) - 2))
    return found


def edit_share(draft: str, final: str) -> float:
    old, new = tokens(draft), tokens(final)
    streams = [_native.token_stream(text.lower().encode("utf-8", "surrogatepass"), 4, False)[0] for text in (draft, final)]
    kept = _native.align_tokens(*streams, array("I", map(len, old)))
    moves = _native.moved_tokens(*streams, kept, 3)
    fate_old, fate_new = ["edited"] * len(old), ["edited"] * len(new)
    for fate, runs in (("kept", kept), ("moved", moves)):
        for left, right, length in runs:
            assert old[left : left + length] == new[right : right + length]
            fate_old[left : left + length] = [fate] * length
            fate_new[right : right + length] = [fate] * length
    edited = stayed = 0.0
    for word, fate in zip(old, fate_old, strict=True):
        stayed += {"kept": 1.0, "moved": 0.5, "edited": 0.0}[fate] * len(word)
        edited += 0.5 * len(word) if fate == "moved" else 0
    windows: list[list[tuple[list[str], list[str]]]] = []
    at = 0, 0
    for left, right, length in [*kept, (len(old), len(new), 0)]:
        gap = (
            [old[i] for i in range(at[0], left) if fate_old[i] == "edited"],
            [new[i] for i in range(at[1], right) if fate_new[i] == "edited"],
        )
        at = left + length, right + length
        if gap == ([], []):
            continue
        if windows and max(sum(len(each[side]) for each in [*windows[-1], gap]) for side in (0, 1)) <= 16:
            windows[-1].append(gap)
        else:
            windows.append([gap])
    for window in windows:
        was, now = ([word for gap in window for word in gap[side]] for side in (0, 1))
        was_size, now_size = sum(map(len, was)), sum(map(len, now))
        scale = 2 * min(was_size, now_size) / (was_size + now_size)
        in_place = scale * sum((trigrams(gap_was) & trigrams(gap_now)).total() for gap_was, gap_now in window)
        anywhere = scale * (trigrams(was) & trigrams(now)).total()
        edited += max(1, was_size - anywhere + now_size - anywhere + 0.75 * (anywhere - in_place))
        stayed += in_place + 0.25 * (anywhere - in_place)
    return edited / (edited + stayed) if edited else 0.0
