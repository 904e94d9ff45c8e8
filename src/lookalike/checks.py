"""Arguments from outside, checked in one place. Each error names the argument, the value and what to give.

They are cheap where nothing is wrong: a call of a microsecond stays one.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from lookalike.errors import InputError
from lookalike.figures import shown_value


def refuse(name: str, value: object, remedy: str) -> InputError:
    """The error that every check raises."""
    return InputError(f"{name}={shown_value(value)}: {remedy}")


def check_int(name: str, value: object, low: int, high: int | None = None, remedy: str | None = None) -> int:
    """A whole number within bounds. ``True`` is none."""
    if isinstance(value, bool) or not isinstance(value, int) or value < low or (high is not None and value > high):
        raise refuse(name, value, remedy or (f"give a whole number from {low} on" if high is None else f"choose {low} to {high}"))
    return value


def check_share(name: str, value: object, remedy: str = "choose a number from 0 to 1") -> float:
    """A number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise refuse(name, value, remedy)
    return value


def check_bool(name: str, value: object) -> bool:
    """True or False, also as numpy has them: a list that happens to be empty is neither."""
    if value is True or value is False:
        return value
    if type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    raise refuse(name, value, "give True or False")


def check_str(name: str, value: object, what: str = "a str") -> str:
    if not isinstance(value, str):
        raise InputError(f"{name} is a {type(value).__name__}: give {what}")
    return value


def check_choice(name: str, value: object, choices: Collection[str]) -> str:
    """One of a few names."""
    if not isinstance(value, str) or value not in choices:
        raise refuse(name, value, f"choose one of {', '.join(choices)}")
    return value


def check_path(name: str, value: object) -> Path:
    """A path that the system can be asked for: not empty, no NUL, and nothing that no file name can hold."""
    if not isinstance(value, (str, os.PathLike)):
        raise InputError(f"{name} is a {type(value).__name__}: give a path, as a str or a Path")
    try:
        text = os.fspath(value)
        usable = isinstance(text, str) and text != "" and "\0" not in text and os.fsencode(text) != b""
    except UnicodeEncodeError:
        usable = False
    if not usable:
        raise refuse(name, value, "this is no path that a file can have")
    return Path(value)


def check_callback(name: str, value: object) -> None:
    """Nothing, or something that can be called."""
    if value is not None and not callable(value):
        raise InputError(f"{name} is a {type(value).__name__}: give a function, or None")


def check_several(name: str, value: Any, what: str) -> Iterable[Any]:
    """Several things: a list or another iterable, but neither a text nor a mapping."""
    if isinstance(value, (str, bytes, bytearray, memoryview, os.PathLike, Mapping)) or not isinstance(value, Iterable):
        raise InputError(f"{name} is a {type(value).__name__}: give {what}")
    return value


def check_names(name: str, value: Any) -> tuple[str, ...]:
    """Several names, as they are."""
    names = tuple(check_several(name, value, "a list of names"))
    for each in names:
        if not isinstance(each, str) or not each:
            raise InputError(f"{name}: {each!r:.60} is no name; give a list of names")
    return names
