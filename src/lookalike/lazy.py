"""Names that are imported on first use: importing a package costs nothing, and a command loads only what it needs."""

from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_names(package: str, homes: Mapping[str, str]) -> tuple[list[str], Callable[[str], object], Callable[[], list[str]]]:
    """``__all__``, ``__getattr__`` and ``__dir__`` of a package whose names live in other modules: ``{"module": "name name"}``.

    Type checkers read the same names in the package's ``__init__.pyi``; a test holds the two together.
    """
    home = {name: module for module, names in homes.items() for name in names.split()}
    names = sorted(home)

    def load(name: str) -> object:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(home[name]), name)

    return names, load, lambda: names
