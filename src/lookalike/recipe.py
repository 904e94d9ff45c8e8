"""What decides a fingerprint.

A recipe is frozen and serialisable, and its id covers everything that changes the output: comparing fingerprints of
different recipes raises ``RecipeMismatch``. Recipe version 1 never changes its output.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cache, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from lookalike.checks import check_several, check_str, is_whole
from lookalike.errors import InputError, RecipeMismatch, UnknownName
from lookalike.figures import shown_value
from lookalike.keys import Key
from lookalike.registry import Registry
from lookalike.system import sha256

if TYPE_CHECKING:
    from lookalike._native import Hashing

NORMALIZERS = ("fold", "none", "simhash-py")
FORM_SEPARATOR = "+"  # "fold+script": tokens are folded, and the form "script" does not count
# What need not count, in the order in which it is taken out (lookalike.text.forms).
FORMS = ("markup", "invisible", "hyphenation", "quotes", "width", "script", "accents", "numerals")
FORMS_VERSION = 3  # raised if a form, or how a model reads a text without it, would ever be otherwise
WEIGHTS = ("count", "one", "tfidf")
HASHES = ("lookalike64", "md5", "sha1-first4", "sha1-first4-mixed", "sha1-last2")
MAX_NGRAM = 64  # the shingle hash rotates by 13 bits a position: beyond 64 tokens positions would repeat
MAX_SEED = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Normaliser, tokenizer, n-gram, weights, hash, seed, embedder and version: all that a fingerprint depends on."""

    tokenizer: str = "auto"
    ngram: int = 5
    normalize: str = "fold"  # "fold", "none", "simhash-py"; "fold+script+…" where forms do not count
    weights: Literal["count", "one", "tfidf"] = "count"
    keywords: int | None = None
    stop_words: str | None = None
    idf: str | None = None
    hash: Literal["lookalike64", "md5", "sha1-first4", "sha1-first4-mixed", "sha1-last2"] = "lookalike64"
    seed: int = 0
    embedder: str | None = None  # the model whose vectors a store keeps
    version: int = 1
    key: Key | None = dataclasses.field(default=None, repr=False)  # of a keyed collection: only la.open makes one

    def __post_init__(self) -> None:
        if not isinstance(self.tokenizer, str):
            raise InputError(f"recipe tokenizer={shown_value(self.tokenizer)}: give a name")
        for name in ("ngram", "seed", "version"):
            value = getattr(self, name)
            if not is_whole(value):
                raise InputError(f"recipe {name}={shown_value(value)}: give a whole number")
        _check_normalize(self.normalize)
        _one_of("weights", self.weights, WEIGHTS)
        _one_of("hash", self.hash, HASHES)
        if not 1 <= self.ngram <= MAX_NGRAM:
            raise InputError(f"recipe ngram={shown_value(self.ngram)}: choose 1 to {MAX_NGRAM}")
        if not 0 <= self.seed <= MAX_SEED:
            raise InputError(f"recipe seed={shown_value(self.seed)}: choose 0 to {MAX_SEED}")
        if self.version != 1:
            raise InputError(f"recipe version={shown_value(self.version)}: this release knows version 1")
        if self.keywords is not None and (not is_whole(self.keywords) or self.keywords < 1):
            raise InputError(f"recipe keywords={self.keywords!r}: give the number of keywords to keep, or None for all features")
        for name in ("stop_words", "idf", "embedder"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise InputError(f"recipe {name}={shown_value(value)}: give a registered name")
        if self.key is not None and not isinstance(self.key, Key):
            raise InputError("recipe key: open a collection with keyed=True, and take the recipe of the index: index.recipe")
        if self.key is not None and self.hash != "lookalike64":
            raise InputError(f"recipe hash={self.hash!r} cannot be keyed: it makes the fingerprints of another program; use 'lookalike64'")
        if self.weights == "tfidf" and self.idf is None:
            raise InputError("recipe weights='tfidf' needs an idf: 'jieba', or the name or file of your own table")
        if self.idf is not None and self.weights != "tfidf":
            raise InputError(f"recipe idf={self.idf!r} has no effect with weights={self.weights!r}: set weights='tfidf'")
        if (self.weights == "tfidf" or self.keywords is not None or self.stop_words) and self.ngram != 1:
            raise InputError(f"recipe ngram={self.ngram}: keywords, stop words and TF-IDF weigh single words: set ngram=1")

    @property
    def id(self) -> str:
        """A name for people, a dot, and 12 hex digits that cover every field and the version of every named part."""
        return _recipe_id(self)

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms that do not count."""
        return tuple(self.normalize.split(FORM_SEPARATOR)[1:])

    @property
    def hashing(self) -> int | Hashing:
        """What native code hashes tokens with: the seed, or the seed and the key."""
        return self.seed if self.key is None else self.key.hashing(self.seed)

    def to_dict(self) -> dict[str, Any]:
        """Its fields; of a key only the check by which it is told from others."""
        fields_ = asdict(self)
        if self.embedder is None:
            del fields_["embedder"]  # the ids of recipes without one are older than the field
        del fields_["key"]
        if self.key is not None:
            fields_["key"] = self.key.check
        return fields_

    @classmethod
    def from_dict(cls, data: dict[str, Any], *, trust: Collection[str] = ()) -> Recipe:
        """A recipe that was written down. It is data, and data must not decide what is imported or which files are read: it may
        name what is registered or installed as a plug-in, and what ``trust`` lists: ``module:function``, files, folders, ``hub:…``.
        """
        if not isinstance(data, Mapping) or not all(isinstance(name, str) for name in data):
            raise InputError(f"recipe of type {type(data).__name__}: give a mapping of field names to values, as to_dict() makes it")
        _refuse_unknown(data)
        if data.get("key") is not None:
            raise InputError("recipe key: its secret is nowhere but in the store: open that, and take index.recipe")
        several = (trust,) if isinstance(trust, str) else check_several("trust", trust, "a list of names")
        trusted = tuple(check_str("trust", name, "a list of names") for name in several)
        made = cls(**data)
        for field in COMPONENT_IDS:
            name = getattr(made, field)
            if name is not None and not may_be_named(field, name, trusted):
                raise UnknownName(
                    f"recipe {field}={name!r} is not registered, and what a store or a file names is not loaded unasked: "
                    f"if you know it, name it yourself: trust=[{name!r}] (--trust {name!r})"
                )
        return made

    def named_parts(self) -> tuple[str, ...]:
        """The names of its tokenizer, tables and model."""
        return tuple(name for field in COMPONENT_IDS if (name := getattr(self, field)) is not None)

    def replace(self, **changes: Any) -> Recipe:
        """The same recipe with other fields."""
        _refuse_unknown(changes)
        return replace(self, **changes)


def _refuse_unknown(names: Iterable[str]) -> None:
    known = [field.name for field in fields(Recipe)]
    if unknown := sorted(set(names) - set(known)):
        raise InputError(f"recipe has unknown fields {', '.join(unknown)}: choose from {', '.join(known)}")


def _check_normalize(value: object) -> None:
    """A name, or "fold" with the names of forms, which must be known, different and in order: one recipe has one id."""
    fold, *forms = value.split(FORM_SEPARATOR) if isinstance(value, str) else (None,)
    if not forms:
        _one_of("normalize", value, NORMALIZERS)
        return
    known = [form for form in FORMS if form in forms]
    if fold != "fold" or known != forms:
        remedy = f"'fold+{'+'.join(known)}'" if fold == "fold" and sorted(known) == sorted(forms) else "'fold+' and some of"
        raise InputError(f"recipe normalize={shown_value(value)}: give {remedy} (forms in this order: {', '.join(FORMS)})")


def _one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in allowed:
        raise InputError(f"recipe {name}={value!r}: choose one of {', '.join(allowed)}")


recipes: Registry[Recipe] = Registry("recipe")
recipes.register("default", Recipe())
recipes.register("words", Recipe(tokenizer="words", ngram=5))
recipes.register("chars", Recipe(tokenizer="chars", ngram=5))
recipes.register("symbols", Recipe(tokenizer="symbols", ngram=5))
recipes.register("reposts", Recipe(ngram=2))  # for SimHash: chosen with benchmarks/reposts.py, see docs/choosing-parameters.md
recipes.register("keywords", Recipe(tokenizer="jieba", ngram=1, weights="tfidf", keywords=20, stop_words="default", idf="jieba"))
recipes.register("simhash-py", Recipe(tokenizer="chars", normalize="simhash-py", ngram=4, hash="md5"))
recipes.register("datasketch", Recipe(tokenizer="chars", normalize="none", ngram=1, hash="sha1-first4", seed=1))
recipes.register("datasketch-2", Recipe(tokenizer="chars", normalize="none", ngram=1, hash="sha1-first4-mixed", seed=1))
recipes.register("winnow-sha1", Recipe(tokenizer="chars", normalize="none", ngram=2, hash="sha1-last2"))

DEFAULT = recipes.get("default")

# What stands in a recipe's id for a named part: its name and version, or the digest of its contents, never a path. The
# functions lie in layers above this one, and are imported when an id is asked for: it must not depend on what was imported.
COMPONENT_IDS = {
    "tokenizer": "lookalike.text.native_form:tokenizer_version",
    "idf": "lookalike.text.idf:idf_version",
    "stop_words": "lookalike.text.stopwords:stop_words_version",
    "embedder": "lookalike.embedders.opening:embedder_version",
}

# Whether a name stands in a registry: only such names may come from data.
REGISTERED = {
    "tokenizer": "lookalike.text.tokenize:is_registered_tokenizer",
    "idf": "lookalike.text.idf:is_registered_idf",
    "stop_words": "lookalike.text.stopwords:is_registered_list",
    "embedder": "lookalike.embedders.opening:is_registered_embedder",
}


def may_be_named(field: str, name: str, trust: Collection[str]) -> bool:
    """Whether a part of a recipe may be used though its name comes from data: it is registered, or the caller gave the same name."""
    if name in trust:
        return True
    registered: Callable[[str], bool] = _imported(REGISTERED[field])
    return registered(name)


def resolve(recipe: Recipe | str | None) -> Recipe:
    """A recipe, from a recipe, its name, or nothing."""
    if recipe is None:
        return DEFAULT
    if isinstance(recipe, Recipe):
        return recipe
    if isinstance(recipe, str):
        name, *forms = recipe.split(FORM_SEPARATOR)
        return recipes.get(recipe) if not forms or recipe in recipes else _with_forms(recipes.get(name), name, forms)
    raise InputError(f"recipe={recipe!r}: expected a Recipe or the name of one")


def _with_forms(recipe: Recipe, name: str, forms: list[str]) -> Recipe:
    """A recipe that was named with forms: "default+script"."""
    if unknown := [form for form in forms if form not in FORMS]:
        raise InputError(f"recipe {name!r} with the form {unknown[0]!r}: choose from {', '.join(FORMS)}")
    if recipe.normalize != "fold":
        raise InputError(f"recipe {name!r} has normalize={recipe.normalize!r}: only a recipe that folds can be named with forms")
    return recipe.replace(normalize=FORM_SEPARATOR.join(("fold", *(form for form in FORMS if form in forms))))


BUILTIN_NAMES = ("default", "words", "chars", "symbols", "reposts", "keywords", "simhash-py", "datasketch", "datasketch-2", "winnow-sha1")


def _recipe_id(recipe: Recipe) -> str:
    parts = ((field, getattr(recipe, field)) for field in COMPONENT_IDS)
    return _identify(recipe, tuple((field, _imported(COMPONENT_IDS[field])(name)) for field, name in parts if name is not None))


@cache
def _imported(place: str) -> Callable[[str], Any]:
    """A function of ours in a layer above."""
    module, _, name = place.partition(":")
    found: Callable[[str], Any] = getattr(import_module(module), name)
    return found


@lru_cache(maxsize=1024)
def _identify(recipe: Recipe, components: tuple[tuple[str, str], ...]) -> str:
    content = recipe.to_dict() | dict(components)
    if recipe.forms:
        content["normalize"] += f"@{FORMS_VERSION}"
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    digest = sha256(canonical.encode()).hexdigest()[:12]
    plain = recipe.replace(key=None, normalize=recipe.normalize.split(FORM_SEPARATOR)[0])
    name = next((name for name in BUILTIN_NAMES if recipes.get(name) == plain), "custom")
    name = FORM_SEPARATOR.join((name, *recipe.forms))
    return f"{name}{'' if recipe.key is None else '-keyed'}.{digest}"


def require_same(left: str, right: str) -> None:
    """Raise unless two fingerprints were made by the same recipe."""
    if left != right:
        raise RecipeMismatch(f"fingerprints of different recipes cannot be compared: {left} and {right}; make both with the same recipe")
