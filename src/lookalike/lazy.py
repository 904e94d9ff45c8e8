"""What is done on first use: imports, so that a package costs nothing and a command loads only what it needs; and values of objects."""

import gc
import os
import threading
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, Generic, Self, TypeVar, overload

Value = TypeVar("Value")


class cached_property(Generic[Value]):
    """``functools.cached_property`` as Python 3.12 has it, without a lock.

    Before, all instances of a class share one: threads that make the values of different objects wait for each other, and a child of a fork
    waits for ever if a thread of its parent was making one. Two threads that ask an object at once may both make its value.
    """

    def __init__(self, make: Callable[[Any], Value]) -> None:
        self._make, self.__doc__ = make, make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, of: None, owner: type) -> Self: ...
    @overload
    def __get__(self, of: object, owner: type) -> Value: ...
    def __get__(self, of: object, owner: type) -> Self | Value:
        if of is None:
            return self
        made = of.__dict__[self._name] = self._make(of)  # found there from now on
        return made


class uncollected:
    """Meanwhile nobody looks for garbage: for many objects that are made at once, all stay, and are in no cycle.

    Threads may do this at the same time: the last one that leaves puts things as the first one found them.
    """

    _turns, _inside, _collects = threading.Lock(), 0, False

    def __enter__(self) -> None:
        cls = uncollected
        with cls._turns:
            if cls._inside == 0:
                cls._collects = gc.isenabled()
                gc.disable()
            cls._inside += 1

    def __exit__(self, *error: object) -> None:
        cls = uncollected
        with cls._turns:
            cls._inside -= 1
            if cls._inside == 0 and cls._collects:
                gc.enable()

    @classmethod
    def forked(cls) -> None:
        """In a child, which has none of the other threads of its parent."""
        if cls._inside and cls._collects:
            gc.enable()
        cls._turns, cls._inside = threading.Lock(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=uncollected.forked)


def imported(module: str) -> ModuleType:
    """A module, imported while nobody looks for garbage: what an import makes stays, and looking through it takes an eighth of the time."""
    with uncollected():
        return import_module(module)


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
