"""An index that several threads search while one changes it, and batch functions in many threads. Run by scripts/tsan.sh."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import lookalike as la
from lookalike import _native

ROUNDS = 12


def text(number: int) -> str:
    return f"document {number} has words {number * 7919 % 1000} {number * 104729 % 1000} and more of the same kind {number}"


def in_threads(*acts: Callable[[], object]) -> None:
    """All of them at once; the first error comes out."""
    errors: list[BaseException] = []

    def run(act: Callable[[], object]) -> None:
        try:
            act()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def use(location: str | Path) -> None:
    with la.open(location) as index:
        index.add([(number, text(number)) for number in range(200)])

        def write() -> None:
            for first in range(200, 200 + 40 * ROUNDS, 40):
                index.add([(number, text(number)) for number in range(first, first + 40)], workers=4)
                index.remove(list(range(first, first + 4)))
            index.compact()

        def read() -> None:
            for number in range(ROUNDS):
                for by in ("near", "simhash", "passages", "fuzzy"):
                    index.search(text(number), by=by)
                index.search_texts([text(number + k) for k in range(8)], workers=4)
                index.search_simhashes(la.simhashes([text(number)]), workers=2)

        in_threads(write, read, read)
        assert len(index) == 200 + 36 * ROUNDS
        assert index.check().ok


def main() -> None:
    texts = [text(number) for number in range(300)]
    batches: list[Callable[[], object]] = [
        lambda: la.minhashes(texts, workers=4),
        lambda: la.simhashes(texts, workers=4),
        lambda: la.winnows(texts, workers=4),
        lambda: la.ssdeeps(texts, workers=4),
        lambda: la.tlshs(texts, workers=4),
        lambda: la.dedupe([{"id": number, "text": each} for number, each in enumerate(texts)], workers=4),
    ]
    in_threads(*batches)
    hamming = la.HammingIndex()

    def grow() -> None:
        for first in range(0, 20000, 2000):
            hamming.add(la.simhashes([text(number) for number in range(first, first + 2000)]))
            hamming.remove([first])

    def look() -> None:
        for number in range(200):
            hamming.search(la.simhashes([text(number)]), workers=2)

    in_threads(grow, look, look)
    state = _native.SsdeepState()
    in_threads(*[lambda: state.update(b"some bytes " * 1000)] * 4)
    use("memory://")
    with tempfile.TemporaryDirectory() as folder:
        use(Path(folder) / "store")
    print("an index in threads: no race")


if __name__ == "__main__":
    main()
