"""Two collections of one store that one process has open, while another process writes: both stay current."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import lookalike as la

READER = """
import sys
import lookalike as la

first, second = la.open(sys.argv[1], read_only=True), None
print(len(first), flush=True)
for line in sys.stdin:
    if line.strip() == "open":
        second = la.open(sys.argv[1], collection="second", read_only=True)
    print(len(first), None if second is None else len(second), flush=True)
"""


def test_opening_another_collection_leaves_the_first_one_current(tmp_path: Path) -> None:
    """To close the database's file gives up the locks of SQLite: then the writer would take away the log that readers read."""
    store = tmp_path / "store"
    for collection in ("default", "second"):
        with la.open(store, collection=collection) as index:
            index.add("a", "some words to begin with")
    process = subprocess.Popen([sys.executable, "-c", READER, str(store)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None

    def seen(command: str = "look") -> str:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{command}\n")
        process.stdin.flush()
        return process.stdout.readline().strip()

    try:
        assert process.stdout.readline().strip() == "1"
        for number in range(4):
            with la.open(store) as index:
                index.add(f"b{number}", "more words")
            with la.open(store, collection="second") as index:
                index.add(f"b{number}", "more words")
                assert seen("open") == f"2 {number + 2}"
            with la.open(store) as index:
                index.remove(f"b{number}")
                assert seen() == f"1 {number + 2}"
    finally:
        process.stdin.close()
        process.wait(30)
