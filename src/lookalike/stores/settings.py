"""What a collection was made with. It is stored beside the documents and never changes: a fingerprint means nothing without it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from lookalike.checks import listed_names
from lookalike.errors import InputError, RecipeMismatch, StoreError, UnknownName
from lookalike.fingerprints import minhash, simhash
from lookalike.fingerprints.record import RecordPrint
from lookalike.keys import Key
from lookalike.recipe import DEFAULT, Recipe, may_be_named
from lookalike.segments.banding import Banding, choose_banding, chosen_banding
from lookalike.stores.fields import parse_indexed
from lookalike.stores.kinds import BUILT_IN, kind_named, kind_names, kinds

if TYPE_CHECKING:
    from lookalike.stores.kinds.base import Kind

THRESHOLD = 0.8
RECALL = 0.99
FIELD_RULES = ("weights", "measures")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Recipe, kinds of fingerprints and their sizes, and whether texts are kept."""

    recipe: Recipe = DEFAULT
    kinds: tuple[str, ...] = field(default_factory=lambda: kinds_of(DEFAULT))
    bits: int = 64
    size: int = 128
    keep_text: bool = True
    threshold: float = THRESHOLD  # what the bands are chosen for: similarities from here on are found with `recall`
    recall: float = RECALL
    dimensions: int | None = None  # of the vectors; None as long as there is no collection
    weights: tuple[tuple[str, float], ...] = ()  # of the fields of records, by name; of the others 1
    measures: tuple[tuple[str, str], ...] = ()  # by which fields are compared
    indexed: tuple[str, ...] = ()  # fields of meta, in order: filters on them need not look at every document
    # A model that the store names and that nobody here knows. It is not opened, so it has no part in `recipe`, and the id of the
    # whole is the one that was stored.
    unopened_model: str | None = None
    stored_id: str | None = None

    def __post_init__(self) -> None:
        if not self.kinds:
            raise InputError(f"kinds: choose at least one of {', '.join(kind_names())}")
        unknown = [kind for kind in self.kinds if kind not in kinds]
        if unknown:
            raise InputError(f"kinds: {', '.join(map(repr, unknown))} cannot be kept in a store; choose from {', '.join(kind_names())}")
        for kind in self.stored:
            kind.check(self)
        simhash.check_bits(self.bits)
        minhash.check_size(self.size)
        if not isinstance(self.keep_text, bool):
            raise InputError(f"keep_text={self.keep_text!r}: give True or False")
        choose_banding(self.size, self.threshold, self.recall)  # checks both
        RecordPrint("{}", self.weights, self.measures)  # the same

    @property
    def stored(self) -> list[Kind]:
        """The kinds of fingerprints."""
        return [kind_named(name) for name in self.kinds]

    @property
    def banding(self) -> Banding:
        return chosen_banding(self.size, self.threshold, self.recall)

    @property
    def recipe_id(self) -> str:
        """Of the recipe with its model and without its key, which a model has no part in."""
        return self.stored_id or self.recipe.replace(key=None).id

    @property
    def keyed(self) -> bool:
        """Whether the fingerprints of texts are made with a secret of this collection."""
        return self.recipe.key is not None

    @property
    def model(self) -> str:
        """The name of the model, to be opened; an error where only the store knows it."""
        if self.unopened_model is not None:
            raise UnknownName(
                f"the store names the model {self.unopened_model!r}, which is not registered; what a store names is not loaded unasked: "
                f"if you know it, open the store with model={self.unopened_model!r} (--trust {self.unopened_model!r})"
            )
        if self.recipe.embedder is None:
            raise InputError("this collection has no model: make another one with model='use-multilingual'")
        return self.recipe.embedder

    @property
    def lexical(self) -> Recipe:
        """The recipe of all fingerprints but vectors, which the model has no part in."""
        return self.recipe if self.recipe.embedder is None else self.recipe.replace(embedder=None)

    def with_key(self, key: Key | None) -> Settings:
        return replace(self, recipe=self.recipe.replace(key=key))

    def completed(self) -> Settings:
        """For a new collection: with what its kinds find out only now, such as the dimensions that a model has. This loads the model."""
        settings = self
        for kind in self.stored:
            settings = kind.completed(settings)
        return settings

    def recipe_of(self, kind: str) -> str:
        """The recipe id of a kind of fingerprints, which its segments carry too."""
        return kind_named(kind).recipe(self)

    def require(self, kind: str) -> None:
        """An ``InputError``, unless there are fingerprints of this kind."""
        if kind not in self.kinds:
            kinds = ", ".join(self.kinds)
            raise InputError(f"this collection has no {kind} fingerprints, only {kinds}: make another one with kinds={kind!r}")

    def to_json(self) -> str:
        data = {name: getattr(self, name) for name in ("bits", "size", "keep_text", "threshold", "recall")}
        if self.dimensions is not None:
            data["dimensions"] = self.dimensions
        if self.indexed:
            data["indexed"] = list(self.indexed)
        data |= {name: dict(rules) for name in FIELD_RULES if (rules := getattr(self, name))}
        plain = self.recipe.replace(key=None)
        data |= {"recipe": plain.to_dict(), "recipe_id": self.recipe_id, "kinds": list(self.kinds)}
        if self.recipe.key is not None:
            data |= {"keyed": True, "key_check": self.recipe.key.check}
        if self.unopened_model is not None:
            data["recipe"]["embedder"] = self.unopened_model
        if "embedder" in data["recipe"]:
            data["lexical_id"] = plain.replace(embedder=None).id  # can be checked without the model
        return json.dumps(data, sort_keys=True)

    @classmethod
    def from_json(cls, text: str, name: str, wanted: Wanted, key_of: Callable[[str], Key]) -> Self:
        """The settings a store was made with, if they are what the caller wants and what this installation reads in the same way.

        They are data: nothing that they name is imported or read unless it is registered, or the caller named it too. ``key_of`` gives the
        key with a check.
        """
        try:
            data: dict[str, Any] = json.loads(text)
            identity, lexical = str(data.pop("recipe_id")), data.pop("lexical_id", None)
            check = data.pop("key_check") if data.pop("keyed", False) else None
            plain, model = wanted.stored_recipe(data["recipe"], identity, name)
            recipe = plain if check is None else plain.replace(key=key_of(str(check)))
            stored = {"unopened_model": model, "stored_id": identity} if model is not None else {}
            known = {name_: value for name_, value in data.items() if name_ not in ("unopened_model", "stored_id")}
            known |= {name_: tuple(sorted(known[name_].items())) for name_ in FIELD_RULES if name_ in known}
            if "indexed" in known:
                known["indexed"] = parse_indexed(known["indexed"])
            settings = cls(**known | {"recipe": recipe, "kinds": tuple(data["kinds"])} | stored)
        except RecipeMismatch:
            raise
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise StoreError(f"{name}: its settings cannot be read ({error}); it may have been written by a newer release") from error
        except UnknownName as error:
            raise UnknownName(f"{name}: {error}") from None
        for was, now in ((identity, settings.recipe_id), (lexical, plain.replace(embedder=None).id)):
            if was is not None and was != now:
                # A named part, such as an IDF table or a segmenter, has changed since.
                raise RecipeMismatch(f"{name} was made with recipe {was}, which is {now} on this machine")
        wanted.check(settings, name)
        return settings


def kinds_of(recipe: Recipe) -> tuple[str, ...]:
    """The kinds of a new collection with this recipe: what can be made and searched under it. Those of plug-ins have to be named."""
    found = map(kind_named, BUILT_IN)
    return tuple(kind.name for kind in found if kind.by_default and kind.fits(recipe))


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the caller of ``open`` asked for; None is "whatever the collection has, or the default for a new one"."""

    recipe: Recipe | None = None
    model: str | None = None  # the embedder of the recipe
    kinds: tuple[str, ...] | None = None
    bits: int | None = None
    size: int | None = None
    keep_text: bool | None = None
    threshold: float | None = None
    recall: float | None = None
    weights: tuple[tuple[str, float], ...] | None = None
    measures: tuple[tuple[str, str], ...] | None = None
    keyed: bool | None = None
    indexed: tuple[str, ...] | None = None
    trust: tuple[str, ...] = ()  # names that may be loaded though it is the store that names them

    def new(self) -> Settings:
        named = (name for name in self.__slots__ if name not in ("model", "trust", "keyed"))
        given = {name: value for name in named if (value := getattr(self, name)) is not None}
        recipe = self.recipe or DEFAULT
        if self.model is not None:
            if recipe.embedder not in (None, self.model):
                raise InputError(f"model={self.model!r}: the recipe names another, {recipe.embedder!r}: leave one of them out")
            recipe = recipe.replace(embedder=self.model)
        if self.keyed and recipe.hash != "lookalike64":
            raise InputError(f"keyed=True: recipe hash={recipe.hash!r} makes the fingerprints of another program, which has no keys")
        return Settings(**{"kinds": kinds_of(recipe)} | given | {"recipe": recipe})

    def made(self) -> Settings:
        """The settings of a collection that is made now: with the dimensions of its model, and with a secret of its own."""
        return self.new().completed().with_key(Key.new() if self.keyed else None)

    def stored_recipe(self, stored: dict[str, Any], identity: str, name: str) -> tuple[Recipe, str | None]:
        """The recipe that a store has written down, in the caller's own names where he gave some that come to the same; and, apart
        from it, a model that the store names and nobody here knows.
        """
        if self.recipe is not None:
            own = self.new().recipe
            if own.id != identity:
                raise RecipeMismatch(f"{name} holds fingerprints of recipe {identity}, not {own.id}: open it without recipe=")
            return own, None
        fields = dict(stored)
        model = fields.pop("embedder", None)
        if model is not None and not isinstance(model, str):
            raise InputError(f"embedder={model!r:.60}: expected a name")
        recipe = Recipe.from_dict(fields, trust=self.trust)
        if self.model is not None:
            return self._with_own_model(recipe, model, identity, name), None
        if model is None or may_be_named("embedder", model, self.trust):
            return recipe.replace(embedder=model), None
        return recipe, model

    def _with_own_model(self, recipe: Recipe, stored: str | None, identity: str, name: str) -> Recipe:
        from lookalike.embedders.opening import embedder_version

        if stored is None:
            raise RecipeMismatch(f"{name} holds no vectors: make another collection with model={self.model!r}")
        own = recipe.replace(embedder=self.model)
        if own.id != identity:
            shown = embedder_version(stored) if may_be_named("embedder", stored, self.trust) else stored
            asked = embedder_version(self.model or "")
            raise RecipeMismatch(
                f"{name} holds vectors of {shown} by recipe {identity}, not of {asked} by {own.id}: "
                "open it without model=, or make another collection"
            )
        return own

    def check(self, found: Settings, name: str) -> None:
        """Raise unless the collection is what was asked for. ``stored_recipe`` looked at its recipe."""
        for named in ("kinds", "bits", "size", "keep_text", "threshold", "recall", "weights", "measures", "keyed", "indexed"):
            value, stored = getattr(self, named), getattr(found, named)
            if value is not None and value != stored and (named != "kinds" or set(value) != set(stored)):
                raise InputError(f"{name} was made with {named}={stored!r}, not {value!r}: leave it out, or make another collection")


def parse_kinds(kinds: str | Iterable[str] | None) -> tuple[str, ...] | None:
    """Kinds as a list or separated by commas, in our order."""
    if kinds is None:
        return None
    names = listed_names("kinds", kinds, "the names of kinds, as a list or with commas between them")
    return tuple(kind for kind in BUILT_IN if kind in names) + tuple(dict.fromkeys(name for name in names if name not in BUILT_IN))
