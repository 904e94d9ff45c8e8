"""Two pages by the vectors that a language model has for their tags: ``match_representations(a, b, model=…)``.

Every tag and text is read by the model, the vectors of a pair are compared by their cosine (0 where it is negative), head and body
are the means over their pairs, where a tag without a partner counts 0, and the page is weight · head + (1 - weight) · body.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from lookalike.embedders.causal import CausalModel, causal_model
from lookalike.embedders.causal_loading import HUB, locate
from lookalike.embedders.folders import WEIGHTS
from lookalike.embedders.opening import Model, embedder, embedders
from lookalike.errors import InputError
from lookalike.markup.elements import Element
from lookalike.markup.page import Page
from lookalike.pages.alignment import Numbered, Pair, Pairing, best, in_order
from lookalike.pages.matching import PartMatch, TagMatch, check_align, check_pages, check_weight, head_weight
from lookalike.pages.tag_texts import MARKUPS, tag_texts
from lookalike.pages.tags import TagWeights
from lookalike.pages.text_vectors import Cosines, Windowed, text_vectors
from lookalike.pages.vector_alignment import largest_sum

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lookalike.embedders.base import Embedder

MAX_CELLS = 4_000_000  # of one table: 2,000 tags against 2,000
Centre: TypeAlias = "str | Sequence[Page] | None"


def match_representations(
    left: Page,
    right: Page,
    *,
    model: Model = None,
    align: str = "best",
    weight: str | float = "equal",
    centre: Centre = None,
    markup: str = "own",
) -> TagMatch:
    """The similarity of two pages by the vectors of their tags: weight · head + (1 - weight) · body.

    ``model``: the folder of a language model, a GGUF file, ``hub:organisation/name``, or any embedder; by default that of meaning.
    ``align``: "best" or "order". ``weight`` of the head: "equal", "tags" or a number. ``centre``: what is subtracted from all
    vectors: nothing, the mean of both pages ("pages"), or the mean of other pages. ``markup``: "own" or "whole".
    """
    check_pages(left, right)
    check_align(align)
    if not isinstance(markup, str) or markup not in MARKUPS:
        raise InputError(f"markup={markup!r}: choose 'own' or 'whole'")
    check_weight(weight)
    chosen = opened(model)
    parts = [_ElementTexts.of(*both, markup) for both in ((left.head, right.head), (left.body, right.body))]
    middle = _middle(centre, parts, chosen, markup)
    head, body = (_match(part, align, chosen, middle) for part in parts)
    return TagMatch(head, body, head_weight(weight, head, body), align)


def page_vector(page: Page, *, model: Model = None, markup: str = "own") -> NDArray[np.float32]:
    """One vector for a whole page, of length 1: the mean of the vectors of its tags and texts, each distinct one once.

    An index with the same model keeps it and searches by it: ``index.add_vectors``, ``index.search(vector=…)``.
    """
    import numpy as np

    if not isinstance(page, Page):
        raise InputError(f"page is a {type(page).__name__}: give la.page(…)")
    if not isinstance(markup, str) or markup not in MARKUPS:
        raise InputError(f"markup={markup!r}: choose 'own' or 'whole'")
    chosen = opened(model)
    texts = sorted({text for side in (page.head, page.body) for text in tag_texts(side, markup)})
    rows = text_vectors(texts, chosen)
    if not rows:
        return np.zeros(chosen.dimensions, dtype=np.float32)
    mean = np.mean([_unit(found.mean(axis=0, dtype=np.float64)) for found in rows], axis=0)
    return _unit(mean).astype(np.float32)


def _unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """With the length 1; nothing stays nothing."""
    length = float((vector * vector).sum()) ** 0.5
    return vector / length if length else vector


@dataclass(frozen=True, slots=True)
class _ElementTexts:
    """A part of both pages: its elements, and their texts by number. Equal texts have the same."""

    left: Sequence[Element]
    right: Sequence[Element]
    numbers: tuple[list[int], list[int]]
    distinct: list[str]

    @classmethod
    def of(cls, left: Sequence[Element], right: Sequence[Element], markup: str) -> _ElementTexts:
        known: dict[str, int] = {}
        a, b = ([known.setdefault(text, len(known)) for text in tag_texts(side, markup)] for side in (left, right))
        return cls(left, right, (a, b), list(known))


def opened(model: Model) -> Embedder:
    """A folder of a language model, a GGUF file or a name on the hub as such, anything else as an embedder."""
    if isinstance(model, str) and model in embedders:
        return embedder(model)
    if isinstance(model, Path) or (isinstance(model, str) and (model.startswith(HUB) or "/" in model or Path(model).exists())):
        if Path(model).is_dir() and not _is_language_model(Path(model)):
            return embedder(model)
        return _language_model(str(model), locate(model).stamp)
    return embedder(model)


def _is_language_model(folder: Path) -> bool:
    """Not a model of sentence-transformers, which has a pooling of its own, nor one without weights for torch."""
    return not (folder / "modules.json").is_file() and any(any(folder.glob(pattern)) for pattern in WEIGHTS)


@lru_cache(maxsize=2)
def _language_model(source: str, stamp: tuple[tuple[str, int, int], ...]) -> CausalModel:
    """Loaded once, and again when its files have changed."""
    return causal_model(source)


def _middle(centre: Centre, parts: Sequence[_ElementTexts], model: Embedder, markup: str) -> NDArray[np.float64] | None:
    """The vector that is subtracted from every window: the mean over windows of distinct texts."""
    import numpy as np

    if centre is None:
        return None
    if centre != "pages" and not (isinstance(centre, (list, tuple)) and all(isinstance(page, Page) for page in centre)):
        raise InputError(f"centre={centre!r}: choose 'pages', or give a list of pages")
    if isinstance(centre, str):
        texts = {text for part in parts for text in part.distinct}
    else:
        texts = {text for page in centre for side in (page.head, page.body) for text in tag_texts(side, markup)}
    rows = text_vectors(sorted(texts), model)
    return np.concatenate(rows).mean(axis=0, dtype=np.float64) if rows else None


def _match(part: _ElementTexts, align: str, model: Embedder, middle: NDArray[np.float64] | None) -> PartMatch:
    vectors = text_vectors(part.distinct, model)
    cosines = Cosines(vectors, middle)
    note = _about_windows(vectors, model)
    plain = _scored(part, in_order(part.left, part.right), cosines, note)
    if align == "order" or plain.score == 1.0:
        return plain
    found = _scored(part, _best(part, cosines), cosines, note)
    return found if found.score >= plain.score else plain


def _best(part: _ElementTexts, cosines: Cosines) -> Pairing:
    """The pairing with the largest sum of cosines; of very large pages that of the tag method."""
    a, b = part.numbers
    # Equal texts at both ends belong together in some best pairing: nothing is more alike.
    start = _common(a, b)
    end = _common(a[start:][::-1], b[start:][::-1])
    left, right = a[start : len(a) - end], b[start : len(b) - end]
    if len(left) * len(right) > MAX_CELLS:
        found = best(Numbered.of(part.left, part.right), TagWeights())
        return Pairing(found.pairs, _joined("too many changed tags to weigh all pairs: paired as by method='tags'", found.note))
    pairs: list[Pair] = [(place, place) for place in range(start)]
    pairs += ((start + row, start + column) for row, column in largest_sum(cosines.table(left, right)))
    pairs += ((len(a) - back, len(b) - back) for back in range(end, 0, -1))
    return Pairing(pairs)


def _common(a: Sequence[int], b: Sequence[int]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


def _scored(part: _ElementTexts, pairing: Pairing, cosines: Cosines, note: str | None) -> PartMatch:
    a, b = part.numbers
    similarities = [cosines.of_pair(a[i], b[k]) for i, k in pairing.pairs]
    return PartMatch(part.left, part.right, pairing.pairs, similarities, _joined(pairing.note, note))


def _joined(*notes: str | None) -> str | None:
    return "; ".join(note for note in notes if note) or None


def _about_windows(vectors: Sequence[NDArray[np.float32]], model: Embedder) -> str | None:
    several = sum(len(rows) > 1 for rows in vectors)
    if not several or not isinstance(model, Windowed):
        return None
    return f"{several:,} texts were longer than {model.window:,} tokens, and read in windows"
