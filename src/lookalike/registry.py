"""Names for things that recipes and measures refer to: tokenizers, IDF tables, recipes, measures.

A name is looked up among what was registered, then among installed plug-ins (entry points of the group
``lookalike.<kind>``), and, where the kind allows it, as ``module:attribute``. Nothing is imported before it is asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from lookalike.checks import check_str
from lookalike.errors import InputError, MissingExtra, UnknownName
from lookalike.figures import shown_value

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Entry(Generic[T]):
    target: T | str  # the thing, or "module:attribute", imported on first use
    version: str
    extra: str | None


class Registry(Generic[T]):
    """One kind of named things."""

    def __init__(self, kind: str, *, plural: str | None = None, paths: bool = False) -> None:
        self.kind = kind
        self._plural = plural or f"{kind}s"
        self._paths = paths
        self._entries: dict[str, _Entry[T]] = {}
        self._plugins_read = False

    def register(self, name: str, target: T | str, *, version: str = "1", extra: str | None = None) -> None:
        """Give ``target`` (or the place it is imported from) a name.

        The version becomes part of every recipe id that uses the name: raise it when the output changes.
        ``extra`` is the optional dependency that a failing import is blamed on.
        """
        if not isinstance(name, str) or not name or name != name.strip() or not name.isprintable():
            raise InputError(f"{self.kind} name {shown_value(name)}: use a name that can be printed, without surrounding white space")
        check_str("version", version)
        self._entries[name] = _Entry(target, version, extra)

    def names(self) -> list[str]:
        self._read_plugins()
        return sorted(self._entries)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._entries or name in self.names())

    def version(self, name: str) -> str:
        return self._entry(name).version

    def get(self, name: str) -> T:
        """The thing behind a name, imported now if it was registered as ``module:attribute``."""
        entry = self._entry(name)
        if isinstance(entry.target, str):
            entry = _Entry(self._load(entry.target, entry.extra), entry.version, entry.extra)
            self._entries[name] = entry
        return entry.target  # type: ignore[return-value]  # a str target was replaced above

    def _entry(self, name: str) -> _Entry[T]:
        if not isinstance(name, str):
            raise InputError(f"{self.kind} {shown_value(name)}: give the name of one of the {self._plural}")
        if name not in self._entries:
            self._read_plugins()
        if name not in self._entries and self._paths and ":" in name:
            return _Entry(name, name, None)
        if name not in self._entries:
            import difflib  # 10 ms that only a mistake needs

            close = difflib.get_close_matches(name, self._entries, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"known {self._plural}: {', '.join(sorted(self._entries))}"
            raise UnknownName(f"unknown {self.kind} {name!r}; {hint}")
        return self._entries[name]

    def _load(self, path: str, extra: str | None) -> T:
        module, _, attribute = path.partition(":")
        try:
            found: T = getattr(importlib.import_module(module), attribute)
        except ModuleNotFoundError as error:
            if extra:
                raise MissingExtra.for_extra(f"{self.kind} {path!r}", extra) from error
            raise UnknownName(f"{self.kind} {path!r}: {error}") from error
        except AttributeError as error:
            raise UnknownName(f"{self.kind} {path!r}: {error}") from error
        return found

    def _read_plugins(self) -> None:
        if self._plugins_read:
            return
        self._plugins_read = True
        from importlib.metadata import entry_points  # slow to import, and only misses need it

        for point in entry_points(group=f"lookalike.{self.kind}"):
            version = point.dist.version if point.dist else "1"
            self._entries.setdefault(point.name, _Entry(point.value, version, None))
