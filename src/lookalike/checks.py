"""Arguments from outside, checked in one place. Each error names the argument, the value and what to give.

They are cheap where nothing is wrong: a call of a microsecond stays one.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeGuard

from lookalike.errors import InputError
from lookalike.figures import shown_value
from lookalike.model import ID_NUMBERS, MAX_ID_BYTES


def refuse(name: str, value: object, remedy: str) -> InputError:
    """The error that every check raises."""
    return InputError(f"{name}={shown_value(value)}: {remedy}")


def is_whole(value: object) -> TypeGuard[int]:
    """Whether it is a whole number. ``True`` is none."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether it is a number, infinity and NaN among them. ``True`` is none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check_int(name: str, value: object, low: int, high: int | None = None, remedy: str | None = None) -> int:
    """A whole number within bounds."""
    if type(value) is int and low <= value and (high is None or value <= high):
        return value
    if not is_whole(value) or value < low or (high is not None and value > high):
        raise refuse(name, value, remedy or (f"give a whole number from {low} on" if high is None else f"choose {low} to {high}"))
    return value


def check_workers(workers: object, most: int = 1024, what: str = "threads") -> int:
    """How many threads or processes a function may use."""
    return check_int("workers", workers, 1, most, f"choose 1 to {most} {what}")


def check_share(name: str, value: object, remedy: str = "choose a number from 0 to 1") -> float:
    """A number from 0 to 1."""
    if not is_number(value) or not 0 <= value <= 1:
        raise refuse(name, value, remedy)
    return value


def is_unicode(text: str) -> bool:
    """Whether UTF-8 can carry it: it has no lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def wrong_id(value: object) -> str | None:
    """What keeps a value from being the id of a document, to be said behind it; None where nothing does."""
    if type(value) is str and value.isascii() and 0 < len(value) <= MAX_ID_BYTES and "\0" not in value:
        return None  # nearly all of them
    if is_whole(value):
        return None if value in ID_NUMBERS else "does not fit into 64 bits: give it as text (str)"
    if not isinstance(value, str):
        return f"is a {type(value).__name__}: expected text (str) or a whole number (int)"
    if value == "" or "\0" in value:
        return "is empty, or has a NUL: neither can be stored"
    if not is_unicode(value):
        return "has half a character (a lone surrogate): it cannot be stored"
    size = len(value.encode())
    return f"has {size} bytes, at most {MAX_ID_BYTES} can be stored: shorten or hash it" if size > MAX_ID_BYTES else None


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


def listed_names(name: str, value: Any, what: str) -> list[str]:
    """Names as a list, or as one text with commas between them."""
    names = [each.strip() for each in value.split(",")] if isinstance(value, str) else list(check_several(name, value, what))
    return [check_str(name, each, what) for each in names]


def check_names(name: str, value: Any) -> tuple[str, ...]:
    """Several names, as they are."""
    names = tuple(check_several(name, value, "a list of names"))
    for each in names:
        if not isinstance(each, str) or not each:
            raise InputError(f"{name}: {each!r:.60} is no name; give a list of names")
    return names
