"""A sample of `make torture`: calls that fail, disks that are full and processes that are killed lose nothing that was acknowledged."""

import resource
import subprocess
import sys

import pytest

import lookalike as la
from torture import run

POINTS = 10  # of each operation, over the four ways; `make torture` takes more than a thousand


@pytest.fixture(scope="session")
def shim(tmp_path_factory):
    return run.build(tmp_path_factory.mktemp("shim"))


@pytest.mark.parametrize("operation", run.OPERATIONS)
def test_what_was_acknowledged_survives_faults(operation, shim):
    (counted,) = run.points(shim, operation, "count", run.BEYOND, 1)
    assert counted["problems"] == []
    assert counted["total"] > 30, "the shim sees what the store does"
    stride = counted["total"] * len(run.KINDS) // POINTS
    struck = list(run.points(shim, operation, ",".join(run.KINDS), 1 + stride // 8, stride))[1:]
    assert {line["kind"] for line in struck} == set(run.KINDS)
    assert [line for line in struck if line["problems"]] == []


ADD = """
import sys
import lookalike as la
with la.open(sys.argv[1]) as index:
    try:
        index.add("b", "another text")
    except la.StoreError as error:
        print("refused:", error)
"""


def test_a_disk_that_takes_not_a_byte_is_an_error_of_ours(tmp_path):
    """Already the lock of the writer cannot be signed."""
    path = tmp_path / "store"
    with la.open(path) as index:
        index.add("a", "some text")
    done = subprocess.run(
        [sys.executable, "-c", ADD, path],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("refused: store "), done.stdout
    assert "what was acknowledged is safe" in done.stdout
    with la.open(path) as index:
        assert list(index.ids()) == ["a"]
        assert index.check().ok
