"""Many pages and many pairs of pages, by several processes: parsers hold Python's lock, so threads would wait for each other.

The results are those of one process, in the same order. In a script, call these under ``if __name__ == "__main__":``, since
every process imports the script.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any, TypeVar

from lookalike.checks import check_several, check_workers
from lookalike.errors import EngineError, InputError
from lookalike.markup.page import Page, page
from lookalike.pages.prints import PagePrint, page_print
from lookalike.pages.scores import PageScores, check_method, page_scores

MAX_WORKERS = 256
BATCHES_A_WORKER = 4  # so that a slow batch does not leave the others idle

Source = Page | str | bytes | Path
Item = TypeVar("Item")
Result = TypeVar("Result")


def compare_pages(pairs: Iterable[tuple[Source, Source]], *, method: str = "all", workers: int = 1, **tag_options: Any) -> list[PageScores]:
    """How alike the pages of each pair are, by ``workers`` processes. Which tag is which is not kept: ``compare`` has it.

    A page that stands in several pairs is parsed once if it is the same object. ``tag_options`` are those of ``match_tags``.
    """
    check_method(method, tag_options)
    given = [_pair(pair) for pair in check_several("pairs", pairs, "pairs of pages, such as [(left, right)]")]
    return in_processes(partial(_scores, method=method, tag_options=tag_options), given, workers)


def page_prints(pages: Iterable[Source], *, workers: int = 1) -> list[PagePrint]:
    """The fingerprints of many pages, by ``workers`` processes."""
    return in_processes(_prints, list(check_several("pages", pages, "a list of pages")), workers)


def in_processes(function: Callable[[Sequence[Item]], list[Result]], items: list[Item], workers: int) -> list[Result]:
    """What the function makes of the items, batch by batch; a batch makes one process busy."""
    check_workers(workers, MAX_WORKERS, "processes")
    if workers == 1 or len(items) < 2:
        return function(items)
    try:
        pickle.dumps(function)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            f"workers={workers}: what is given must travel to other processes ({error}); define functions in a module"
        ) from error
    import multiprocessing

    size = ceil(len(items) / (BATCHES_A_WORKER * workers))
    batches = [items[start : start + size] for start in range(0, len(items), size)]
    # A forked child would inherit the locks of native threads in whatever state they are; a spawned one starts clean.
    with ProcessPoolExecutor(min(workers, len(batches)), mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            return [result for found in pool.map(function, batches) for result in found]
        except BrokenProcessPool as error:
            raise EngineError(
                "a worker process could not start or died: in a script, call this under if __name__ == '__main__':, or use workers=1"
            ) from error


def _pair(pair: tuple[Source, Source]) -> tuple[Page, Page]:
    try:
        left, right = pair
    except (TypeError, ValueError) as error:
        raise InputError("pairs: give pairs of pages, such as [(left, right)]") from error
    return _page(left), _page(right)


def _page(source: Source) -> Page:
    return source if isinstance(source, Page) else page(source)


def _scores(pairs: Sequence[tuple[Page, Page]], method: str, tag_options: dict[str, Any]) -> list[PageScores]:
    return [replace(page_scores(left, right, method, **tag_options), tags=None) for left, right in pairs]


def _prints(pages: Sequence[Source]) -> list[PagePrint]:
    return [page_print(_page(source)) for source in pages]
