"""From texts to token numbers.

Most tokenizers are compiled and use all cores by themselves: they are asked once, for all texts. One that is written in Python
is asked in several processes, if there is enough text to pay for starting them.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from lookalike.embedders.causal_loading import Location
from lookalike.system import usable_cores

PAYS_FROM = 4_000_000  # characters: a process takes seconds to start, and a Python tokenizer a second for a million characters
_worker_tokenizer: Any = None  # of a process that does nothing else


class TokenMaker:
    """``workers``: processes; None: one per core where it pays."""

    def __init__(self, tokenizer: Any, location: Location, workers: int | None) -> None:
        self._tokenizer, self._location, self._workers = tokenizer, location, workers

    def of(self, texts: Sequence[str]) -> list[list[int]]:
        workers = self._workers or (usable_cores() if sum(map(len, texts)) >= PAYS_FROM else 1)
        if self._tokenizer.is_fast or workers == 1 or len(texts) < 2:
            return token_numbers(self._tokenizer, texts)
        shares = [list(texts[number::workers]) for number in range(workers)]
        # Not forked: the threads of the libraries do not survive that.
        start = (self._location.place, self._location.options)
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_start_worker, initargs=start) as pool:
            found = list(pool.map(_in_worker, shares))
        return [found[place % workers][place // workers] for place in range(len(texts))]


def token_numbers(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    if not texts:
        return []
    # Types of tokens, which some tokenizers give unasked, would be added to the words by a causal model as if they were words.
    encoded = tokenizer(list(texts), return_attention_mask=False, return_token_type_ids=False, verbose=False)
    encoded.pop("token_type_ids", None)
    return [list(ids) for ids in encoded["input_ids"]]


def _start_worker(place: str, options: dict[str, Any]) -> None:
    from transformers import AutoTokenizer

    global _worker_tokenizer
    _worker_tokenizer = AutoTokenizer.from_pretrained(place, **options)


def _in_worker(texts: list[str]) -> list[list[int]]:
    return token_numbers(_worker_tokenizer, texts)
