"""From a vector a token to a vector a window."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lookalike.errors import InputError

POOLINGS = ("mean", "cls", "max", "last")


def checked_pooling(pooling: str) -> str:
    if pooling not in POOLINGS:
        raise InputError(f"pooling={pooling!r}: choose one of {', '.join(POOLINGS)}")
    return pooling


def pooling_of(config: dict[str, Any]) -> str | None:
    """What the ``config.json`` of a pooling layer of sentence-transformers asks for, if it is one of ours."""
    names = {"mean": "mean_tokens", "cls": "cls_token", "max": "max_tokens", "last": "lasttoken"}
    wanted = [key for key, value in config.items() if key.startswith("pooling_mode_") and value is True]
    if not wanted and config.get("pooling_mode") in ("mean", "cls", "max", "lasttoken"):
        return str(config["pooling_mode"]).removesuffix("token")
    return next((ours for ours, theirs in names.items() if wanted == [f"pooling_mode_{theirs}"]), None)


def array_pooling(pooling: str) -> Callable[[Any, Any], Any]:
    """Of numpy arrays: hidden states (windows, tokens, features) and a mask (windows, tokens)."""

    def mean(hidden: Any, mask: Any) -> Any:
        weights = mask[:, :, None].astype(np.float32)
        return (hidden * weights).sum(axis=1) / weights.sum(axis=1)

    return {
        "mean": mean,
        "cls": lambda hidden, _: hidden[:, 0],
        "max": lambda hidden, mask: np.where(mask[:, :, None] > 0, hidden, -np.inf).max(axis=1),
        "last": lambda hidden, mask: hidden[np.arange(len(hidden)), mask.sum(axis=1) - 1],
    }[pooling]
