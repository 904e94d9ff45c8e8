"""Pairs judged in several processes, in order and with the same numbers as in one."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice

from lookalike.checks import check_workers
from lookalike.corpus.row import Problem
from lookalike.drafts.judge import Bounds, Judged, judge
from lookalike.drafts.pairs import DraftPair
from lookalike.errors import EngineError
from lookalike.text.forms import UNSEEN

BATCH_CHARACTERS = 200_000  # texts that travel to a process at a time
BATCH_PAIRS = 64
MAX_WORKERS = 256

Item = DraftPair | Problem
Judgement = tuple[Item, Judged | None]


def judged(items: Iterable[Item], bounds: Bounds, workers: int = 1, forms: tuple[str, ...] = UNSEEN) -> Iterator[Judgement]:
    """Every pair with its judgement and every problem without one, in the order they came in."""
    check_workers(workers, MAX_WORKERS, "processes")
    if workers == 1:
        return ((item, judge(item.draft, item.final, bounds, forms) if isinstance(item, DraftPair) else None) for item in items)
    return _in_processes(items, bounds, workers, forms)


def _in_processes(items: Iterable[Item], bounds: Bounds, workers: int, forms: tuple[str, ...]) -> Iterator[Judgement]:
    import multiprocessing

    # A forked child would inherit the locks of native threads in whatever state they are; a spawned one starts clean.
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        waiting: deque[tuple[list[Item], Future[list[Judged]]]] = deque()
        batches = _batches(items)
        try:
            while True:
                for batch in islice(batches, 2 * workers - len(waiting)):
                    texts = [(item.draft, item.final) for item in batch if isinstance(item, DraftPair)]
                    waiting.append((batch, pool.submit(_judge_all, texts, bounds, forms)))
                if not waiting:
                    return
                batch, future = waiting.popleft()
                yield from _with_judgements(batch, future.result())
        except BrokenProcessPool as error:
            raise EngineError(
                "a worker process could not start or died: in a script, call feedback under if __name__ == '__main__':, or use workers=1"
            ) from error
        finally:
            for _, future in waiting:
                future.cancel()


def _batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    batch: list[Item] = []
    size = 0
    for item in items:
        batch.append(item)
        size += len(item.draft) + len(item.final) if isinstance(item, DraftPair) else 0
        if len(batch) == BATCH_PAIRS or size >= BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _judge_all(texts: list[tuple[str, str]], bounds: Bounds, forms: tuple[str, ...]) -> list[Judged]:
    return [judge(draft, final, bounds, forms) for draft, final in texts]


def _with_judgements(batch: list[Item], found: list[Judged]) -> Iterator[Judgement]:
    answers = iter(found)
    for item in batch:
        yield item, next(answers) if isinstance(item, DraftPair) else None
