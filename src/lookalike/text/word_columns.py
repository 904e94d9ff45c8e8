"""Fingerprints of a column of texts whose words a segmenter finds, or which are read without some forms, a piece at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from lookalike.recipe import Recipe
from lookalike.text import segment
from lookalike.text.columns import strings
from lookalike.text.tokenize import NATIVE_MODES, word_hashes

if TYPE_CHECKING:
    from concurrent.futures import Future

    from lookalike._native import Buffer

# Some milliseconds of cutting: threads take turns at the interpreter between two pieces.
CHARACTERS_AT_A_TIME = 65_536

Sketch = Callable[["Buffer", "Buffer"], "Buffer"]
"""From the hashes of words and the offsets of their texts to one sketch per text."""


def sketches_of_words(texts: Any, recipe: Recipe, sketch: Sketch, workers: int) -> Iterator[Buffer]:
    """What ``sketch`` makes of each piece of a column, in order.

    rjieba and the kernels let go of the interpreter, so threads help. A segmenter of somebody else is called by one thread.
    """

    def made(piece: list[str]) -> Buffer:
        return sketch(*word_hashes(piece, recipe))

    pieces = strings(texts, CHARACTERS_AT_A_TIME)
    if workers == 1 or recipe.tokenizer in NATIVE_MODES or segment.piece_cutter(recipe.tokenizer) is None:
        yield from map(made, pieces)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[Buffer]] = deque()
        for piece in pieces:
            waiting.append(pool.submit(made, piece))
            if len(waiting) > 2 * workers:  # bounds what is held at a time
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
