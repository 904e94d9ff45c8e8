"""Shards by a list of locations, or by a file that lists them (``shards://FILE``)."""

from __future__ import annotations

from collections.abc import Sequence
from os import fspath
from pathlib import Path
from urllib.parse import parse_qs, unquote

from lookalike.errors import InputError, LookalikeError
from lookalike.stores.base import Names, Store
from lookalike.stores.openers import namer_of, opener_of
from lookalike.stores.settings import Wanted
from lookalike.stores.shards.names import ShardNames
from lookalike.stores.shards.routing import MAX_SHARDS
from lookalike.stores.shards.store import ShardStore, is_empty


def open_shards(location: str, collection: str, wanted: Wanted, *, read_only: bool, create: bool) -> ShardStore:
    """``shards://FILE`` or ``shards://FILE?partial=on``: a location per line; paths are beside the file."""
    listed, partial = _read_list(location)
    return open_listed(listed, collection, wanted, read_only=read_only, create=create, partial=partial)


def names_in_shards(location: str, *, read_only: bool = False) -> ShardNames:
    """The collections of the shards that a file lists."""
    return names_in_listed(_read_list(location)[0], read_only=read_only)


def names_in_listed(locations: Sequence[object], *, read_only: bool = False) -> ShardNames:
    names: list[Names] = []
    try:
        names.extend(namer_of(each)(each, read_only=read_only) for each in _checked(locations))
    except BaseException:
        for each_names in names:
            each_names.close()
        raise
    return ShardNames(names, f"{len(names)} shards")


def _read_list(location: str) -> tuple[list[str], bool]:
    """The locations of shards, and whether some may be missing."""
    name, _, query = location.partition("://")[2].partition("?")
    options = {key: values[-1] for key, values in parse_qs(query, keep_blank_values=True).items()}
    if not name or options.keys() - {"partial"} or options.get("partial", "off") not in ("on", "off"):
        raise InputError("location: give shards://FILE, with one location per line in the file; partial=on is the only option")
    path = Path(unquote(name))
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as a list of shards, one location per line ({error})") from error
    found = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    beside = [line if "://" in line else str(path.parent / line) for line in found]
    return beside, options.get("partial") == "on"


def open_listed(
    locations: Sequence[object], collection: str, wanted: Wanted, *, read_only: bool, create: bool, partial: bool
) -> ShardStore:
    names = _checked(locations)
    stores: list[Store | LookalikeError] = []

    def opened(each: str, create: bool) -> Store | LookalikeError:
        try:
            return opener_of(each)(each, collection, wanted, read_only=read_only, create=create)
        except InputError:
            raise
        except LookalikeError as error:
            return error

    try:
        stores.extend(opened(each, False) for each in names)
        if create and all(isinstance(each, LookalikeError) or is_empty(each) for each in stores):
            stores = [opened(name, True) if isinstance(each, LookalikeError) else each for name, each in zip(names, stores, strict=True)]
        if not partial:
            _require_all(stores)
        return ShardStore([str(each) if isinstance(each, LookalikeError) else each for each in stores], wanted, partial=partial)
    except BaseException:
        for store in stores:
            if not isinstance(store, LookalikeError):
                store.close()
        raise


def _require_all(stores: Sequence[Store | LookalikeError]) -> None:
    """One that is not there is not made anew beside others that hold documents: it is a disk that is missing, or a wrong path."""
    for place, each in enumerate(stores, 1):
        if isinstance(each, LookalikeError):
            remedy = "bring it back, or give partial=True to search the others"
            raise type(each)(f"shard {place} of {len(stores)} cannot be opened: {each}; {remedy}") from each


def _checked(locations: Sequence[object]) -> list[str]:
    names = [each if isinstance(each, str) else fspath(each) if hasattr(each, "__fspath__") else each for each in locations]
    if not 1 <= len(names) <= MAX_SHARDS or not all(isinstance(each, str) and each for each in names):
        raise InputError(f"location: give a list of 1 to {MAX_SHARDS} paths or URLs")
    if len(set(names)) < len([each for each in names if not str(each).startswith("memory:")]):
        raise InputError("location: the same shard is in the list twice")
    if any(str(each).startswith("shards:") for each in names):
        raise InputError("location: a shard cannot consist of shards; list all of them")
    return [str(each) for each in names]
