"""Names of parametrised tests that are the same in every process: xdist compares them."""

from __future__ import annotations

import re


def stable_id(value: object) -> str:
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
