"""A fixture for tests of the command line."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from lookalike.cli import main

Run = Callable[..., Any]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Calls a verb in this process; the result is a ``CompletedProcess``."""

    def call(*arguments: object, stdin: bytes = b"") -> Any:
        class Stdin:
            buffer = io.BytesIO(stdin)

        monkeypatch.setattr(sys, "stdin", Stdin)
        capfd.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        assert "internal error" not in err
        return subprocess.CompletedProcess(arguments, int(stop.value.code or 0), out, err)

    return call
