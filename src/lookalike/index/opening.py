"""``la.open``: from a path or URL to an index."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike

from lookalike.checks import check_bool
from lookalike.errors import InputError
from lookalike.index.index import Index
from lookalike.recipe import Recipe, resolve
from lookalike.stores.openers import opener_of
from lookalike.stores.settings import Wanted, parse_kinds

MAX_COLLECTION_BYTES = 200


def open(
    location: str | PathLike[str],
    *,
    collection: str = "default",
    recipe: Recipe | str | None = None,
    model: str | PathLike[str] | None = None,
    kinds: str | Iterable[str] | None = None,
    bits: int | None = None,
    size: int | None = None,
    keep_text: bool | None = None,
    threshold: float | None = None,
    recall: float | None = None,
    keyed: bool | None = None,
    trust: str | Iterable[str] = (),
    read_only: bool = False,
    create: bool = True,
) -> Index:
    """Open the index at a path or URL, or make one.

    A new collection is made with what is given here: the recipe, the kinds of fingerprints (all by default), their ``bits``
    (SimHash) and ``size`` (MinHash), whether texts are kept, and the similarity that near-duplicates have (``threshold``) of
    which the share ``recall`` is to be found. A ``keyed`` one makes the fingerprints of texts with a secret of its own, which the store
    keeps: nobody without it can forge a text that looks like another (docs/security.md). With a ``model`` (``use-multilingual``, a
    folder, ``module:function``) it keeps vectors too, and can be searched by meaning. An existing one keeps what it was made with, and is
    refused if something else is asked for. Nothing that the store itself names is imported or read, unless it is registered: where it was
    made with a ``module:function``, a file or a folder, give the same ``recipe`` or ``model`` again, or list the names in ``trust``.
    Use it in a ``with`` statement, or ``close`` it.
    """
    check_bool("read_only", read_only)
    check_bool("create", create)
    if keyed is not None:
        check_bool("keyed", keyed)
    if not 1 <= _stored_bytes(collection) <= MAX_COLLECTION_BYTES:
        raise InputError(f"collection={collection!r:.60}: give a name of up to {MAX_COLLECTION_BYTES} bytes")
    if isinstance(location, str) and location.lower().startswith(("http://", "https://")):
        from lookalike.index.remote import RemoteIndex

        return RemoteIndex(location, collection)
    wanted = Wanted(
        recipe=None if recipe is None else _without_key(resolve(recipe)),
        model=_checked_model(model),
        kinds=parse_kinds(kinds),
        bits=bits,
        size=size,
        keep_text=keep_text,
        threshold=threshold,
        recall=recall,
        keyed=keyed,
        trust=_checked_trust(trust),
    )
    wanted.new()  # whatever is wrong with it should be said before a store is made
    return Index(opener_of(location)(str(location), collection, wanted, read_only=read_only, create=create))


def _without_key(recipe: Recipe) -> Recipe:
    if recipe.key is not None:
        raise InputError("recipe: this one has the key of a collection, and each has its own: give recipe.replace(key=None) and keyed=True")
    return recipe


def _checked_trust(trust: object) -> tuple[str, ...]:
    names = (trust,) if isinstance(trust, str) else tuple(trust) if isinstance(trust, Iterable) else (trust,)
    wrong = next((name for name in names if not isinstance(name, str) or not name), None)
    if wrong is not None:
        raise InputError(f"trust={wrong!r:.60}: give the names that the store may use, as str: module:function, a file, a folder")
    return names


def _stored_bytes(collection: object) -> int:
    """How long a name is in a store; 0 for one that none can have."""
    try:
        return len(collection.encode()) if isinstance(collection, str) and "\0" not in collection else 0
    except UnicodeEncodeError:
        return 0


def _checked_model(model: object) -> str | None:
    if model is not None and (not isinstance(model, str | PathLike) or str(model) == ""):
        raise InputError(f"model={model!r:.60}: give the name of a model, or the path of its folder")
    return None if model is None else str(model)
