"""Dedupe on a cluster of several processes, one of which is killed in the middle: ``spark-submit spark_cluster.py INPUT FOLDER``.

Prints, as JSON, how examples/submit.py ended, which executor was killed during which stage, and how many there were over the whole run.
"""

from __future__ import annotations

import json
import os
import runpy
import shutil
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import lookalike as la
from lookalike.deduping.progress import Progress
from lookalike.deduping.spark import job
from lookalike.deduping.spark.frames import frame_of

SUBMIT = Path(__file__).parent.parent / "examples" / "submit.py"


def executors() -> list[int]:
    """The pids of the executors: as this process, they are children of the Java that spark-submit became."""
    parents: dict[int, int] = {}
    found = []
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                parents[int(each.name)] = int((each / "stat").read_text().rpartition(")")[2].split()[1])
                if b"CoarseGrainedExecutorBackend" in (each / "cmdline").read_bytes():
                    found.append(int(each.name))
            except OSError:
                continue
    return sorted(pid for pid in found if os.getppid() in ancestors(pid, parents))


def ancestors(pid: int, parents: dict[int, int]) -> set[int]:
    found: set[int] = set()
    while (pid := parents.get(pid, 0)) > 1 and pid not in found:
        found.add(pid)
    return found


def main() -> None:
    given, folder = sys.argv[1], Path(sys.argv[2])
    killed, seen = kill_one_in_the_middle()
    submitted = submit(given, folder)
    session = la.spark.Engine().opened()
    found = search_what_travelled(session, folder / "known")
    stopped = stop_in_the_middle(given, session, str(folder))
    print(json.dumps(killed | {"submitted": submitted, "executors": len(seen), "found": found, "stopped": stopped}))
    session.stop()


def kill_one_in_the_middle() -> tuple[dict[str, object], set[int]]:
    """What there is to say about the executor that is killed while pairs are compared, and the pids of all that were there."""
    killed: dict[str, object] = {}
    seen: set[int] = set()
    tell = job.Steps.__call__

    def kill() -> None:
        """While tasks of the stage run, and not before."""
        time.sleep(0.5)
        pid = executors()[0]
        os.kill(pid, signal.SIGKILL)
        killed["pid"] = pid

    def watch(steps: job.Steps, stage: str) -> None:
        tell(steps, stage)
        seen.update(executors())
        if stage == "verify" and not killed:
            killed["stage"] = stage
            threading.Thread(target=kill).start()

    job.Steps.__call__ = watch  # type: ignore[method-assign]  # submit.py shows no progress to others
    return killed, seen


def submit(given: str, folder: Path) -> list[object]:
    """The example as it is, in a process that spark-submit started: what does well, and what it is right to refuse."""
    ended: list[object] = []
    for out in (folder / "submitted", folder / "submitted"):  # which is there the second time
        sys.argv = [str(SUBMIT), given, "--out", str(out), "--removed", str(folder / "submitted.jsonl"), "-q"]
        try:
            runpy.run_path(str(SUBMIT), run_name="__main__")
        except SystemExit as error:
            ended.append(error.code)
    return ended


def search_what_travelled(session: Any, store: Path) -> list[list[str]]:
    """Searches in a store that is no more where it was: executors have their copies."""
    texts = ["one text of a few words that somebody wrote", "and another one, which has nothing in common with it"]
    with la.open(store) as index:
        index.add([("k0", texts[0]), ("k1", texts[1])])
    matches = la.spark.search(
        frame_of(session, [(f"q{i}", text) for i, text in enumerate(texts)], {"id": "string", "text": "string"}), store
    )
    shutil.rmtree(store)
    return sorted([row.id, row.match_id] for row in matches.collect())


def stop_in_the_middle(given: str, session: Any, work: str) -> list[str]:
    """Runs that get a signal while their tasks run, and how they ended."""
    ended = []
    for number in (signal.SIGINT, signal.SIGTERM):
        print("stopping", file=sys.stderr, flush=True)

        def watch(at: Progress, number: int = number) -> None:
            if at.stage == "sketch":
                threading.Timer(0.3, os.kill, (os.getpid(), number)).start()

        try:
            la.dedupe(given, engine=la.spark.Engine(session, partitions=2, work=work), progress=watch).close()
        except BaseException as error:
            ended.append(f"{type(error).__name__} {error}".strip())
        time.sleep(1)  # killed tasks may have something to say
    return ended


if __name__ == "__main__":
    main()
