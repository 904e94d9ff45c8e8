"""A terminal for tests: runs Python code in a process whose output is one, and returns what it shows."""

from __future__ import annotations

import os
import pty
import subprocess
import sys


def shown_on_a_terminal(code: str) -> str:
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    environment.pop("NO_COLOR", None)
    shown = b""
    with subprocess.Popen([sys.executable, "-c", code], stdout=slave, stderr=slave, env=environment) as process:
        os.close(slave)
        while True:
            try:
                data = os.read(master, 1 << 16)
            except OSError:  # the other end is gone
                break
            if not data:
                break
            shown += data
    os.close(master)
    assert process.returncode == 0, shown
    return shown.decode()
