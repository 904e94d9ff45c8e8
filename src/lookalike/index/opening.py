"""``la.open``: from a path or URL to an index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TypedDict, Unpack

from lookalike.checks import check_bool
from lookalike.errors import InputError
from lookalike.fingerprints.record import record
from lookalike.index.index import Index
from lookalike.options import checked, taken, takes
from lookalike.recipe import Recipe, resolve
from lookalike.stores.fields import parse_indexed
from lookalike.stores.names import check_collection
from lookalike.stores.openers import opener_of
from lookalike.stores.settings import Wanted, parse_kinds
from lookalike.stores.shards.opening import open_listed


class CollectionOptions(TypedDict, total=False):
    recipe: Recipe | str | None
    model: str | PathLike[str] | None
    kinds: str | Iterable[str] | None
    bits: int | None
    size: int | None
    keep_text: bool | None
    threshold: float | None
    recall: float | None
    weights: Mapping[str, float] | None
    measures: Mapping[str, str] | None
    keyed: bool | None
    indexed: str | Iterable[str] | None


@dataclass(frozen=True, slots=True)
class MadeWith:
    """What a new collection is made with, as the caller says it."""

    recipe: Recipe | str | None = None
    model: str | PathLike[str] | None = None
    kinds: str | Iterable[str] | None = None
    bits: int | None = None
    size: int | None = None
    keep_text: bool | None = None
    threshold: float | None = None
    recall: float | None = None
    weights: Mapping[str, float] | None = None
    measures: Mapping[str, str] | None = None
    keyed: bool | None = None
    indexed: str | Iterable[str] | None = None

    def __post_init__(self) -> None:
        if self.keyed is not None:
            check_bool("keyed", self.keyed)

    def wanted(self, trust: tuple[str, ...]) -> Wanted:
        return Wanted(
            recipe=None if self.recipe is None else _without_key(resolve(self.recipe)),
            model=_checked_model(self.model),
            kinds=parse_kinds(self.kinds),
            bits=self.bits,
            size=self.size,
            keep_text=self.keep_text,
            threshold=self.threshold,
            recall=self.recall,
            weights=None if self.weights is None else record({}, weights=self.weights).weights,
            measures=None if self.measures is None else record({}, measures=self.measures).measures,
            keyed=self.keyed,
            indexed=parse_indexed(self.indexed),
            trust=trust,
        )

    def over_http(self) -> dict[str, object]:
        """What is said of it to a service."""
        said = {name: getattr(self, name) for name in self.__slots__ if name != "indexed"} | {"kinds": parse_kinds(self.kinds)}
        return {name: value for name, value in said.items() if value is not None}


@takes(MadeWith)
def open(
    location: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    collection: str = "default",
    trust: str | Iterable[str] = (),
    read_only: bool = False,
    create: bool = True,
    partial: bool = False,
    **options: Unpack[CollectionOptions],
) -> Index:
    """Open the index at a path or URL, or make one. A list of them is one index whose documents are spread over all (docs/shards.md).

    A new collection is made with what is given here: the recipe, the kinds of fingerprints (all by default), their ``bits``
    (SimHash) and ``size`` (MinHash), whether texts are kept, and the similarity that near-duplicates have (``threshold``) of
    which the share ``recall`` is to be found. ``weights`` and ``measures`` are those of the fields of records, see ``la.record``. A
    ``keyed`` one makes the fingerprints of texts with a secret of its own, which the store
    keeps: nobody without it can forge a text that looks like another (docs/security.md). With a ``model`` (``use-multilingual``, a
    folder, ``module:function``) it keeps vectors too, and can be searched by meaning. ``indexed`` names fields of meta that filters go by
    (``["site", "day"]``): then a filter that few documents fit costs little (docs/live.md). An existing one keeps what it was made with,
    and is refused if something else is asked for. Nothing that the store itself names is imported or read, unless it is registered: where
    it was made with a ``module:function``, a file or a folder, give the same ``recipe`` or ``model`` again, or list the names in ``trust``.
    Of a list, a location that does not answer is an error; where ``partial``, searches leave it out and say so in their ``notes``.
    Use it in a ``with`` statement, or ``close`` it.
    """
    made_with = taken(MadeWith, checked(open, options))
    check_bool("read_only", read_only)
    check_bool("create", create)
    if check_bool("partial", partial) and not isinstance(location, (list, tuple)):
        raise InputError("partial=True is for a list of locations: leave it out")
    check_collection("collection", collection)
    if isinstance(location, str) and location.lower().startswith(("http://", "https://")):
        from lookalike.index.remote import open_remote

        return open_remote(location, collection, made_with.over_http(), create=create, read_only=read_only)
    wanted = made_with.wanted(_checked_trust(trust))
    wanted.new()  # whatever is wrong with it should be said before a store is made
    if isinstance(location, (list, tuple)):
        return Index(open_listed(location, collection, wanted, read_only=read_only, create=create, partial=partial))
    return Index(opener_of(location)(str(location), collection, wanted, read_only=read_only, create=create))


def open_beside(index: Index, collection: str, *, create: bool) -> Index | None:
    """Another collection of the store of an index, which shares its writer; None where a store has no one writer to share."""
    from lookalike.stores.embedded.store import EmbeddedStore

    store = index._store
    if not isinstance(store, EmbeddedStore) or store.folder is None:
        return None
    return Index(EmbeddedStore(store.place, collection, Wanted(), create=create))


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


def _checked_model(model: object) -> str | None:
    if model is not None and (not isinstance(model, str | PathLike) or str(model) == ""):
        raise InputError(f"model={model!r:.60}: give the name of a model, or the path of its folder")
    return None if model is None else str(model)
