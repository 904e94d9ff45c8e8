"""Example data for ``lookalike serve --demo``."""

from __future__ import annotations

import json
from importlib.resources import files

from lookalike.index.opening import open as open_index


def fill(location: str) -> int:
    """Make a store with examples in Chinese and English; returns how many documents it has."""
    lines = files("lookalike.service").joinpath("data/demo.jsonl").read_text(encoding="utf-8").splitlines()
    with open_index(location) as index:
        index.add(json.loads(line) for line in lines)
        return len(index)
