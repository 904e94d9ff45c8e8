"""Names that are imported on first use: importing a package costs nothing, and a command loads only what it needs."""

import gc
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType


def imported(module: str) -> ModuleType:
    """A module, imported while nobody looks for garbage: what an import makes stays, and looking through it takes an eighth of the time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        return import_module(module)
    finally:
        if collects:
            gc.enable()


def lazy_names(package: str, homes: Mapping[str, str]) -> tuple[list[str], Callable[[str], object], Callable[[], list[str]]]:
    """``__all__``, ``__getattr__`` and ``__dir__`` of a package whose names live in other modules: ``{"module": "name name"}``.

    Type checkers read the same names in the package's ``__init__.pyi``; a test holds the two together.
    """
    home = {name: module for module, names in homes.items() for name in names.split()}
    names = sorted(home)

    def load(name: str) -> object:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(imported(home[name]), name)

    return names, load, lambda: names
