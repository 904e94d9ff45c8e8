"""Runs an operation once for each point at which a fault may strike, in forks of one warm process, and prints what came of each.

Started by run.py and by the tests, with faults.c preloaded: python points.py OPERATION KIND[,KIND …] FIRST STRIDE FOLDER
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from scenarios import NEW, OPERATIONS, Step, check_documents, make_base, small_segments, steps_of

import lookalike as la

KINDS = ("count", "eio", "full", "kill", "torn")
NOTHING_YET = re.compile("half-made|does not exist|no collection")  # what a reader is told of a store whose making was interrupted


def in_child(act: Callable[[Callable[[object], None]], None]) -> tuple[int, list[object]]:
    """Runs it in a fork with a way to say something; returns how the fork ended, and what it said."""
    heard, said = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(heard)
            act(lambda message: [os.write(said, json.dumps(message).encode() + b"\n")][0])
            code = 0
        except BaseException:
            os.write(said, json.dumps(["raw", traceback.format_exc()[-1500:]]).encode() + b"\n")
        finally:
            os._exit(code)
    os.close(said)
    with os.fdopen(heard, "rb") as lines:
        messages = [json.loads(line) for line in lines if line.endswith(b"\n")]
    _, status = os.waitpid(child, 0)
    return status, messages


def strike(operation: str, kind: str, at: int, folder: Path) -> tuple[list[str], int]:
    """One point: the problems found, and how many calls there were."""
    shim = ctypes.CDLL(None)
    path = folder / "store"

    def act(say: Callable[[object], None]) -> None:
        shim.faults_arm(ctypes.c_long(at), KINDS.index(kind), str(path).encode())
        try:
            OPERATIONS[operation](path, lambda word, changes: say(["step", word, changes]))
        except la.LookalikeError as error:  # the opening was refused
            say(["refused", f"{type(error).__name__}: {error}"])
        finally:
            seen = shim.faults_seen()
            shim.faults_arm(ctypes.c_long(0), 0, b"")
            say(["seen", seen])

    status, messages = in_child(act)
    said = [(str(word), changes) for tag, word, *rest in messages if tag == "step" for changes in rest]
    seen = next((int(number) for tag, number, *_ in messages if tag == "seen"), 0)
    problems = [f"raw error: {trace}" for tag, trace, *_ in messages if tag == "raw"]
    if os.WIFSIGNALED(status) and (os.WTERMSIG(status) != signal.SIGKILL or kind not in ("kill", "torn")):
        problems.append(f"died of signal {os.WTERMSIG(status)}")
    if at and seen < at and not os.WIFSIGNALED(status):
        problems.append("the call was not made this time, so nothing struck")
    opened = operation not in NEW or bool(said)
    return problems + afterwards(operation, path, steps_of(said), opened), seen


def afterwards(operation: str, path: Path, steps: list[Step], opened: bool) -> list[str]:
    """What is wrong with the store when the faults are over: read first, then written."""
    problems: list[str] = []
    for read_only in (True, False):

        def look(say: Callable[[object], None], read_only: bool = read_only) -> None:
            try:
                for problem in check_documents(path, operation, steps, read_only):
                    say(["problem", problem])
            except la.LookalikeError as error:
                if read_only and not opened and type(error) is la.StoreError and NOTHING_YET.search(str(error)):
                    return  # nothing was acknowledged, so there may be nothing to read
                say(["problem", f"cannot be {'read' if read_only else 'written'}: {type(error).__name__}: {error}"])

        status, messages = in_child(look)
        problems += [str(text) for _, text, *_ in messages]
        if os.WIFSIGNALED(status):
            problems.append(f"the next opening died of signal {os.WTERMSIG(status)}")
    return problems


def main() -> None:
    operation, kinds, first, stride, folder = sys.argv[1], sys.argv[2].split(","), int(sys.argv[3]), int(sys.argv[4]), Path(sys.argv[5])
    small_segments()
    base = folder / "base"
    base.mkdir()
    in_child(lambda say: make_base(base))
    for each in ("near", "simhash"):  # imports what the children need, once
        with la.open("memory://") as index:
            index.add("a", "some text that is there")
            index.search("some text", by=each)

    def once(kind: str, at: int) -> tuple[list[str], int]:
        work = folder / "work"
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(base, work)
        if operation in NEW:
            shutil.rmtree(work / "store")
        return strike(operation, kind, at, work)

    problems, total = once("count", 0)
    print(json.dumps({"operation": operation, "kind": "count", "at": 0, "problems": problems, "total": total}), flush=True)
    # The ways begin at different calls, so that together they strike more places.
    struck = [(kind, at) for place, kind in enumerate(kinds) for at in range(first + place * stride // len(kinds), total + 1, stride)]
    for kind, at in struck:
        problems, _ = once(kind, at)
        print(json.dumps({"operation": operation, "kind": kind, "at": at, "problems": problems}), flush=True)


if __name__ == "__main__":
    main()
