"""What is done to a store while faults strike, and what must hold afterwards. Uses the public names only.

Every step changes documents that no other step changes, and says so before and after: an acknowledged step must be there, one that failed or
was under way must be there whole or not at all, and one that never began must not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import lookalike as la
from lookalike.stores.embedded import sealing
from lookalike.stores.embedded import store as embedded

Changes = dict[str, str | None]  # the text that a document has afterwards; None: there is none
Say = Callable[[str, Changes], None]


def small_segments() -> None:
    """Segments of a few documents, so that little work makes, merges and removes several."""
    sealing.SEAL_ROWS = 40
    embedded.SEAL_AT_CLOSE = 10


def text_of(name: str, number: int) -> str:
    return (
        f"{name} {number} tells of {number * 7919 % 997} things and of {number * 104729 % 991} others that nobody else has {name}{number}"
    )


def texts(name: str, count: int) -> dict[str, str]:
    return {f"{name}{number}": text_of(name, number) for number in range(count)}


BASE = texts("base", 100)


@contextmanager
def opened(path: Path, say: Say) -> Iterator[la.Index]:
    """Faults may strike the closing as well: it is a step of its own."""
    index = la.open(path)
    try:
        yield index
    finally:
        step(say, {}, index.close)


def step(say: Say, changes: Changes, act: Callable[[], object]) -> None:
    say("try", changes)
    try:
        act()
    except la.LookalikeError as error:
        say(f"refused: {error}", {})
    else:
        say("done", {})


def make_base(folder: Path) -> None:
    """A store with sealed and removed documents and a tail, and an export beside it."""
    with la.open(folder / "store") as index:
        for first in range(0, 100, 25):
            index.add(list(BASE.items())[first : first + 25])
        index.remove([f"base{number}" for number in range(90, 100)])
    with la.open("memory://") as other:
        other.add(texts("loaded", 60).items())
        other.export(folder / "export.jsonl")


def make(path: Path, say: Say) -> None:
    """A store in which nothing is put."""
    with opened(path, say):
        say("done", {})  # the opening itself


def create(path: Path, say: Say) -> None:
    with opened(path, say) as index:
        say("done", {})  # the opening itself
        step(say, dict(texts("first", 5)), lambda: index.add(texts("first", 5).items()))


def add(path: Path, say: Say) -> None:
    with opened(path, say) as index:
        for name in ("one", "two", "three"):
            new = texts(name, 30)
            step(say, dict(new), lambda new=new: index.add(new.items()))
        changed = {f"base{number}": text_of("changed", number) for number in range(5)}
        step(say, dict(changed), lambda: index.add(changed.items()))


def remove(path: Path, say: Say) -> None:
    with opened(path, say) as index:
        for first in (0, 40):
            gone = [f"base{number}" for number in range(first, first + 20)]
            step(say, dict.fromkeys(gone), lambda gone=gone: index.remove(gone))


def compact(path: Path, say: Say) -> None:
    with opened(path, say) as index:
        step(say, {"base7": None}, lambda: index.remove("base7"))
        step(say, {}, index.compact)
        step(say, dict(texts("late", 3)), lambda: index.add(texts("late", 3).items()))


def load(path: Path, say: Say) -> None:
    with opened(path, say) as index:
        step(say, dict(texts("loaded", 60)), lambda: index.load(path.parent / "export.jsonl"))


def close(path: Path, say: Say) -> None:
    """A tail that is sealed when the store is closed."""
    with opened(path, say) as index:
        step(say, dict(texts("tail", 15)), lambda: index.add(texts("tail", 15).items()))


OPERATIONS = {"make": make, "create": create, "add": add, "remove": remove, "compact": compact, "load": load, "close": close}
NEW = ("make", "create")  # where there is no store before


@dataclass
class Step:
    changes: Changes
    outcome: str  # done, refused: …, or under way


def steps_of(said: list[tuple[str, Changes]]) -> list[Step]:
    steps: list[Step] = []
    for word, changes in said:
        if word == "try":
            steps.append(Step(changes, "under way"))
        elif steps:
            steps[-1].outcome = word
    return steps


def check_documents(path: Path, operation: str, steps: list[Step], read_only: bool) -> Iterator[str]:
    """Opens the store and compares it with what was acknowledged: the ways in which it is wrong."""
    expected: dict[str, str] = {} if operation in NEW else {id_: text for id_, text in BASE.items() if int(id_[4:]) < 90}
    with la.open(path, read_only=read_only) as index:
        found = {document.id: document.text for document in index.documents()}
        for each in steps:
            after = all(found.get(id_) == text for id_, text in each.changes.items())
            before = all(found.get(id_) == expected.get(id_) for id_ in each.changes)
            if each.outcome == "done" and not after:
                yield f"an acknowledged step is missing: {sorted(each.changes)[:3]}"
            elif not after and not before:
                yield f"a step was done by half: {sorted(each.changes)[:3]}"
            if after:
                expected = {id_: text for id_, text in (expected | each.changes).items() if text is not None}
        if found != expected:
            yield f"other documents than there should be: {sorted(found.keys() ^ expected.keys())[:3]}"
        if len(index) != len(found):
            yield f"len(index) is {len(index)}, but there are {len(found)} documents"
        for id_ in sorted(found)[::17]:
            for by in ("near", "simhash"):
                if id_ not in [match.id for match in index.search(found[id_], by=by, k=0, limit=None)]:
                    yield f"{id_} is not found by {by}"
        if not read_only:
            index.add("after", "what is written when everything is over")
            if not index.check().ok:
                index.check(repair=True)
            yield from (f"after a repair: {problem}" for problem in index.check().problems)
