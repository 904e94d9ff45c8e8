"""What the verbs of a store share: how it is named and opened, and ids on the command line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import click

import lookalike
from lookalike.cli.inputs import read_stdin
from lookalike.errors import InputError
from lookalike.model import ID_NUMBERS

_DECIMAL = re.compile(r"0|-?[1-9][0-9]{0,18}")
_SECONDS = re.compile(r"[0-9]{9,11}(\.[0-9]+)?")  # since 1970: from 1973 on
_TRUSTED = "lookalike.trust"
F = TypeVar("F", bound=Callable[..., Any])


class Ways(click.Choice[str]):
    """The ways of searching, or of making clusters, that there are. They are looked up when somebody asks: plug-ins may bring some."""

    def __init__(self, *, of_clusters: bool = False) -> None:
        self.case_sensitive, self._of_clusters = True, of_clusters

    @property
    def choices(self) -> Sequence[str]:  # type: ignore[override]  # found when it is asked for
        from lookalike.stores.kinds import way_names

        return way_names(of_clusters=self._of_clusters)


def takes(by: str) -> str:
    """What a way of searching takes: text, bytes, page or thing."""
    from lookalike.stores.kinds import way_named

    return way_named(by).takes


def store_argument(function: F) -> F:
    """The store, and what it may name. The latter concerns nobody but those who open it: see ``trusted``."""
    trust = click.option(
        "--trust",
        metavar="NAME",
        multiple=True,
        expose_value=False,
        callback=lambda context, _, names: context.meta.update({_TRUSTED: names}),
        help="What the store may load though it is not registered: module:function, a file or a folder that it names. May be repeated.",
    )
    return click.argument("store", metavar="STORE")(trust(function))


def trusted() -> tuple[str, ...]:
    names: tuple[str, ...] = click.get_current_context().meta.get(_TRUSTED, ())
    return names


def collection_option(function: F) -> F:
    return click.option("--collection", default="default", show_default=True, help="Which collection of the store.")(function)


def where_option(function: F) -> F:
    help_ = "Only documents whose meta fits, such as 'site = a.com and day >= 2026-10-16' (docs/search.md)."
    return click.option("--where", metavar="EXPR", default=None, help=help_)(function)


def _time_or_column(_context: click.Context, _option: click.Parameter, value: str | None) -> str | float | None:
    """Seconds since 1970 are a number; all else is what the library takes it for."""
    return float(value) if value is not None and _SECONDS.fullmatch(value) else value


def expiry_options(function: F) -> F:
    help_ = "When they expire: a time, or the column that has it."
    function = click.option("--expires", callback=_time_or_column, default=None, help=help_)(function)
    return click.option("--ttl", type=float, default=None, help="Seconds until the documents expire.")(function)


def creation_options(function: F) -> F:
    """What decides a new collection. For one that exists they must say what it was made with, or be left out."""
    help_of = {
        "--recipe": "Name of the recipe of a new collection (see 'lookalike info').",
        "--model": "Model of a new collection, to search by meaning: a name such as use-multilingual, or a folder.",
        "--kinds": "Fingerprints of a new collection, separated by commas [default: all that can be searched]",
        "--threshold": "Similarity from which a new collection finds look-alikes [default: 0.8]",
        "--indexed": "Fields of meta that a new collection indexes for --where, separated by commas.",
        "--recall": "How surely it finds those at the threshold [default: 0.99]",
    }
    keyed = "A new collection with a secret of its own: nobody without it can forge a text that looks like another."
    function = click.option("--keyed", is_flag=True, help=keyed)(function)
    function = click.option("--no-text", is_flag=True, help="A new collection that keeps no texts, only fingerprints.")(function)
    for name in reversed(help_of):
        kind = float if name in ("--threshold", "--recall") else str
        function = click.option(name, type=kind, default=None, help=help_of[name])(function)
    return function


def created(store: str, collection: str, *, no_text: bool, keyed: bool, **settings: Any) -> lookalike.Index:
    """A store for writing, made if it is not there."""
    flags: dict[str, Any] = {"keep_text": False if no_text else None, "keyed": True if keyed else None}
    return lookalike.open(store, collection=collection, trust=trusted(), **flags, **settings)


def existing(store: str, collection: str, *, writing: bool = False) -> lookalike.Index:
    """A store that must be there already."""
    return lookalike.open(store, collection=collection, trust=trusted(), read_only=not writing, create=False)


def stored_id(index: lookalike.Index, name: str) -> str | int:
    """An id of the command line as the collection has it: what looks like a whole number may be one there."""
    if _DECIMAL.fullmatch(name) and name not in index and int(name) in ID_NUMBERS and int(name) in index:
        return int(name)
    return name


def ids_of(given: Iterable[str]) -> list[str]:
    """The ids of a command line, each once; '-' stands for those on standard input, one per line."""
    found: dict[str, None] = {}
    for name in given:
        found |= dict.fromkeys(_stdin_ids() if name == "-" else [name])
    return list(found)


def _stdin_ids() -> list[str]:
    try:
        text = read_stdin().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"standard input is not UTF-8 (byte {error.start}): give one id per line, in UTF-8") from error
    return [line for line in text.replace("\r\n", "\n").split("\n") if line]
