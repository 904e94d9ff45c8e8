"""From a name to an embedder."""

from __future__ import annotations

from lookalike.embedders.base import Embedder
from lookalike.registry import Registry

embedders: Registry[Embedder] = Registry("embedder", paths=True)


def embedder_version(name: str) -> str:
    """What stands for the model in a recipe's id."""
    return f"{name}@{embedders.version(name)}"
