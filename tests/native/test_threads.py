"""What `make tsan` runs still compiles: nothing else includes it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from shutil import which

import pytest

HERE = Path(__file__).parent


def test_the_threaded_kernels_fit_their_headers() -> None:
    compiler = which("c++") or which("g++") or which("clang++")
    if compiler is None:
        pytest.skip("not applicable: there is no C++ compiler")
    native = HERE.parent.parent / "native"
    command = [compiler, "-std=c++20", "-fsyntax-only", f"-I{native}", str(HERE / "threads.cpp")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]
