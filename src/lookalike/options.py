"""Functions that take many keywords, in groups: each group is a small frozen object, which has their defaults and checks them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
Group = TypeVar("Group")


def takes(*groups: Any) -> Callable[[Function], Function]:
    """The keywords in ``**options`` are the fields of these groups: ``help`` and editors show them with their defaults.

    Type checkers read them in the TypedDict of the options; a test holds the two together.
    """

    def shown(function: Function) -> Function:
        own = inspect.signature(function)
        named = [each for each in own.parameters.values() if each.kind is not each.VAR_KEYWORD]
        keywords = [
            inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=each.type)
            for group in groups
            for each in fields(group)
            if each.default is not MISSING
        ]
        function.__signature__ = own.replace(parameters=[*named, *keywords])  # type: ignore[attr-defined]
        return function

    return shown


def checked(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a call; one that the function does not take is refused as Python does."""
    known = inspect.signature(function).parameters
    for name in options:
        if name not in known:
            raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}")
    return dict(options)


def taken(group: type[Group], options: Mapping[str, Any], **given: Any) -> Group:
    """A group: what is given, and what the options say of it."""
    return group(**given, **{each.name: options[each.name] for each in fields(group) if each.name in options})  # type: ignore[arg-type]
