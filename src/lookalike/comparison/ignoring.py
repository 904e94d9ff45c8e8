"""Text that must not count: boilerplate and templates.

A run of at least k tokens (the recipe's n-gram) that a text shares with an ignored text is taken out of it, together with the
white space and punctuation around the run that the ignored text has too. What is compared is the rest. Spans go on to
refer to the original text.
"""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from lookalike.corpus.contents import readable
from lookalike.errors import InputError
from lookalike.fingerprints.winnowing import Winnowing, winnow
from lookalike.model import Passage, Span
from lookalike.recipe import Recipe
from lookalike.text.normalize import utf8
from lookalike.text.tokenize import TokenStream, stream


@dataclass(frozen=True, slots=True)
class Ignored:
    """The share of each text that did not count (of the characters that are not white space), and where it stands."""

    left: float
    right: float
    left_spans: tuple[Span, ...] = ()
    right_spans: tuple[Span, ...] = ()

    def to_dict(self) -> dict[str, float]:
        return {"left": self.left, "right": self.right}


class Templates:
    """The ignored texts, ready to be looked for."""

    def __init__(self, texts: Iterable[str | Path], recipe: Recipe, rewritten: Callable[[str], str] = str) -> None:
        if isinstance(texts, str | Path) or not isinstance(texts, Iterable):
            raise InputError(f"ignore of type {type(texts).__name__}: give a list of texts or files")
        self.recipe = recipe
        self.notes: list[str] = []
        self._templates: list[tuple[str, Winnowing]] = []
        contents = hashlib.sha256()
        seen: set[str] = set()
        for index, text in enumerate(texts):
            if isinstance(text, Path):
                text = readable(text).text()
            if not isinstance(text, str):
                raise InputError(f"ignore[{index}] is of type {type(text).__name__}: give a text (str) or a file (Path)")
            contents.update(hashlib.sha256(utf8(text)).digest())
            text = rewritten(text)  # as the texts in which it is looked for
            tokens = len(stream(text, recipe).hashes)
            if tokens < recipe.ngram:
                self.notes.append(f"ignored text {index + 1} has {tokens} tokens: too few to look for, at least {recipe.ngram} are needed")
            elif text not in seen:
                seen.add(text)
                self._templates.append((text, self._print(text)))
        self.digest = contents.hexdigest()[:12]  # part of the signature: other texts ignored give other numbers

    def _print(self, text: str) -> Winnowing:
        # With a window of one every shared run of k tokens is found; a wider one promises only longer runs.
        return winnow(text, window=1, recipe=self.recipe)

    def spans_in(self, text: str) -> tuple[Span, ...]:
        """Where a text repeats the ignored ones: in order, without overlaps."""
        tokens = stream(text, self.recipe)
        if len(tokens.hashes) < self.recipe.ngram:
            return ()
        mine = self._print(text)
        places: dict[int, list[int]] = {}
        for index, value in enumerate(mine.values):
            places.setdefault(value, []).append(index)
        found: list[Span] = []
        for template, its_print in self._templates:
            shared = sorted(index for value in set(its_print.values) & places.keys() for index in places[value])
            if shared:
                found.extend(_with_edges(passage, text, template, tokens) for passage in _part(mine, shared).passages(its_print))
        return _merged(found)


def _part(whole: Winnowing, indices: list[int]) -> Winnowing:
    """Some of the hashes of a text: what a template does not have need not be looked at again for each template."""
    if whole.source is None or len(indices) == len(whole.values):
        return whole
    positions = memoryview(array("I", (whole.source.positions[index] for index in indices)))
    return replace(
        whole,
        values=tuple(whole.values[index] for index in indices),
        spans=tuple(whole.spans[index] for index in indices),
        source=whole.source._replace(positions=positions),
    )


def _with_edges(passage: Passage, text: str, template: str, tokens: TokenStream) -> Span:
    """A shared run with what both texts have between it and the next token on either side."""
    (start, end), (there, there_end) = passage.left, passage.right
    at = bisect_left(tokens.starts, end)
    limit = tokens.starts[at] if at < len(tokens.starts) else len(text)
    while end < limit and there_end < len(template) and text[end] == template[there_end]:
        end, there_end = end + 1, there_end + 1
    at = bisect_left(tokens.starts, start)
    limit = tokens.ends[at - 1] if at else 0
    while start > limit and there > 0 and text[start - 1] == template[there - 1]:
        start, there = start - 1, there - 1
    return start, end


def _merged(spans: list[Span]) -> tuple[Span, ...]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return tuple(merged)


def blanked(text: str, spans: tuple[Span, ...]) -> str:
    """The text with spaces in place of the spans, so that all places stay what they are."""
    pieces: list[str] = []
    at = 0
    for start, end in spans:
        pieces += [text[at:start], " " * (end - start)]
        at = end
    return "".join([*pieces, text[at:]])


def removed(text: str, spans: tuple[Span, ...]) -> str:
    """The text without the spans; what stood before and after one stays apart by white space, once."""
    if not spans:
        return text
    edges = [0, *(place for span in spans for place in span), len(text)]
    pieces: list[str] = []
    space = ""
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        piece = text[start:end]
        solid = piece.strip()
        if not solid:
            space = space or piece
            continue
        if pieces:
            pieces.append(space or piece[: -len(piece.lstrip())] or " ")
        pieces.append(solid)
        space = piece[len(piece.rstrip()) :]
    return "".join(pieces)


def share(text: str, spans: tuple[Span, ...]) -> float:
    """How much of a text the spans hold, by characters that are not white space."""
    whole = _solid(text)
    return sum(_solid(text[start:end]) for start, end in spans) / whole if whole else 0.0


def _solid(text: str) -> int:
    return sum(map(len, text.split()))
