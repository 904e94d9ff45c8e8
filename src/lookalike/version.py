"""The installed version."""

from __future__ import annotations


def version() -> str:
    from importlib.metadata import version as installed  # costs 10 ms: not at import time

    return installed("lookalike")
