"""Where torch computes."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from lookalike.errors import InputError


def every_device() -> list[str]:
    """Every GPU there is, or the CPU."""
    import torch

    return [f"cuda:{number}" for number in range(torch.cuda.device_count())] or ["cpu"]


def placed(model: Any, devices: Sequence[str], shown: str) -> dict[str, Any]:
    """The model on each device; one that is named twice has it once."""
    found: dict[str, Any] = {}
    for device in devices:
        try:
            if device not in found:
                found[device] = (copy.deepcopy(model) if found else model).to(device)
        except (RuntimeError, AssertionError) as error:
            raise InputError(f"{shown}: {str(error).splitlines()[0]}; leave it out to use what this machine has") from error
    return found
