"""Records: structured data with fingerprints, compared field by field.

A record is any JSON object. ``simhash`` and ``minhash`` are its fingerprints: records that are alike have alike ones,
and ``fields`` has those of each field alone. ``value`` is the SHA-256 of its canonical JSON, so equal data have equal
values in any order of keys and set elements.

The similarity of two records is the weighted mean over the fields of both, each scored by a measure: the default one of
its type, or one of ``field_measures`` by name.
A field that only one record has scores 0. A weight of 0 leaves a field out. Every other weight is 1 unless given.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any, ClassVar, NamedTuple, Self

from lookalike.checks import check_workers, is_number
from lookalike.corpus.row import Problem
from lookalike.errors import InputError, RecipeMismatch
from lookalike.figures import shown_value
from lookalike.fingerprints.base import check_pair, field, pack, unpack
from lookalike.fingerprints.canonical import canonical_data, canonical_json, from_json, joined_surrogates, to_json
from lookalike.fingerprints.field_measures import check_comparable, compared, field_measures, shared
from lookalike.fingerprints.minhash import WeightedMinHash, check_size
from lookalike.fingerprints.record_features import VERSION, sketch_records
from lookalike.fingerprints.simhash import SimHash, check_bits
from lookalike.model import Document

MIN_WEIGHT, MAX_WEIGHT = 1e-9, 1e9  # sums and products of weights stay exact enough
_AT_A_TIME = 1024  # records that are sketched in one call


class Part(NamedTuple):
    """What one field contributes: its similarity, its weight, and the measure (``missing`` if one record lacks it)."""

    similarity: float
    weight: float
    measure: str


class FieldPrint(NamedTuple):
    """The fingerprints of one field alone: those of a record that has nothing else."""

    simhash: SimHash
    minhash: WeightedMinHash

    def to_dict(self) -> dict[str, Any]:
        return {"simhash": self.simhash.to_dict(), "minhash": self.minhash.to_dict()}


@dataclass(frozen=True, slots=True)
class RecordPrint:
    """A record's canonical JSON, with the weights and measures by which it is compared, and its fingerprints. Made by ``record``."""

    kind: ClassVar[str] = "record"

    canonical: str
    weights: tuple[tuple[str, float], ...] = ()
    measures: tuple[tuple[str, str], ...] = ()
    bits: int = 64  # of the SimHash
    size: int = 128  # of the MinHash
    recipe: str = dataclass_field(init=False, compare=False)
    _data: dict[str, Any] = dataclass_field(init=False, compare=False, repr=False)
    _made: dict[str, FieldPrint] = dataclass_field(init=False, compare=False, repr=False)  # once somebody asks

    def __post_init__(self) -> None:
        check_bits(self.bits)
        check_size(self.size)
        data = from_json(self.canonical)
        if not isinstance(data, dict) or to_json(data) != self.canonical:
            raise InputError("record canonical: not the canonical JSON of an object; make it by record()")
        weights, measures = _checked_weights(dict(self.weights)), _checked_measures(dict(self.measures), data)
        object.__setattr__(self, "weights", tuple(sorted(weights.items())))
        object.__setattr__(self, "measures", tuple(sorted(measures.items())))
        object.__setattr__(self, "recipe", _recipe(weights, measures))
        object.__setattr__(self, "_data", data)
        object.__setattr__(self, "_made", {})

    @property
    def simhash(self) -> SimHash:
        """Differs in few bits from those of similar records."""
        return self._whole().simhash

    @property
    def minhash(self) -> WeightedMinHash:
        """Its similarity estimates the weight of what two records have in common by that of what either has."""
        return self._whole().minhash

    @property
    def fields(self) -> dict[str, FieldPrint]:
        """The fingerprints of each field, in the order of their names; fields of weight 0 have none."""
        weights = dict(self.weights)
        names = [name for name in sorted(self._data) if weights.get(name, 1.0)]
        found = sketched([{name: self._data[name]} for name in names], {}, self.bits, self.size)
        return dict(zip(names, found, strict=True))

    def _whole(self) -> FieldPrint:
        if "" not in self._made:
            self._made[""] = sketched([self._data], dict(self.weights), self.bits, self.size)[0]
        return self._made[""]

    @property
    def value(self) -> str:
        """The same for equal data, and another for any other: a digest, which says nothing about how alike records are."""
        return hashlib.sha256(self.canonical.encode()).hexdigest()

    @property
    def data(self) -> dict[str, Any]:
        """A copy of the canonical data."""
        copy: dict[str, Any] = from_json(self.canonical)
        return copy

    def parts(self, other: Self, /) -> dict[str, Part]:
        """What each field contributes, in the order of the fields' names."""
        check_pair(self, other)
        weights, measures = dict(self.weights), dict(self.measures)
        found: dict[str, Part] = {}
        for name in sorted(self._data.keys() | other._data.keys()):
            weight = weights.get(name, 1.0)
            if weight == 0:
                continue
            if name not in self._data or name not in other._data:
                found[name] = Part(0.0, weight, "missing")
                continue
            score, measure = compared(self._data[name], other._data[name], name, measures.get(name))
            found[name] = Part(score, weight, measure)
        return found

    def similarity(self, other: Self, /) -> float:
        """The weighted mean over the fields of both records; 1.0 for two empty ones."""
        parts = self.parts(other).values()
        if not parts and (self._data or other._data):
            raise InputError("record: every field has weight 0, so there is nothing to compare: give one field a weight")
        total = math.fsum(part.weight for part in parts)
        return min(1.0, math.fsum(part.weight * part.similarity for part in parts) / total) if parts else 1.0

    def distance(self, other: Self, /) -> float:
        return 1.0 - self.similarity(other)

    def shared(self, other: Self, /) -> dict[str, Any]:
        """The values that both records have, by field: equal ones, common elements of lists, and keys of objects with what they share."""
        check_pair(self, other)
        weights = dict(self.weights)
        names = (name for name in sorted(self._data) if name in other._data and weights.get(name, 1.0))
        return {name: value for name in names for value in shared(self._data[name], other._data[name])}

    def to_dict(self) -> dict[str, Any]:
        prints = {"simhash": self.simhash.to_dict(), "minhash": self.minhash.to_dict()}
        fields = {name: each.to_dict() for name, each in self.fields.items()}
        settings = {"weights": dict(self.weights), "measures": dict(self.measures)}
        return {**prints, "fields": fields, "value": self.value, "data": self.data, **settings, "recipe": self.recipe}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        content, recipe = field(data, "data", cls.kind, Mapping), field(data, "recipe", cls.kind, str)
        weights, measures = data.get("weights") or {}, data.get("measures") or {}
        _check_settings(weights, measures)
        made = cls(canonical_json(content), tuple(weights.items()), tuple(measures.items()), *_sizes(data))
        if made.recipe != recipe:
            raise RecipeMismatch(f"record fingerprint of recipe {recipe}: its weights and measures now give {made.recipe}; make it anew")
        if data.get("value", made.value) != made.value:
            raise InputError(f"record fingerprint: its value {data['value']!r} is not that of its data")
        for name in ("simhash", "minhash"):
            if name in data and data[name] != getattr(made, name).to_dict():
                raise InputError(f"record fingerprint: its {name} is not that of its data")
        return made

    def to_bytes(self) -> bytes:
        content: dict[str, Any] = {"data": self._data, "weights": dict(self.weights), "measures": dict(self.measures)}
        if (self.bits, self.size) != (64, 128):
            content["sizes"] = [self.bits, self.size]
        return pack(self.kind, self.recipe, to_json(content).encode())

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        recipe, payload = unpack(cls.kind, data)
        content = from_json(payload.decode("ascii", "replace"))
        if not isinstance(content, dict):
            raise InputError("record fingerprint: its content is not an object")
        return cls.from_dict({**content, "recipe": recipe})


def record(
    data: Mapping[str, Any],
    *,
    weights: Mapping[str, float] | None = None,
    measures: Mapping[str, str] | None = None,
    bits: int = 64,
    size: int = 128,
) -> RecordPrint:
    """The fingerprints of a record; ``weights`` and ``measures`` name its fields, ``bits`` and ``size`` are those of SimHash and MinHash.

    >>> one = record({"domain": "invoice", "confidence": 0.93, "words": {"vat", "2023"}})
    >>> two = record({"domain": "invoice", "confidence": 0.94, "words": {"vat", "2023"}})
    >>> one.simhash.distance(two.simhash) <= 2, round(one.similarity(two), 3)
    (True, 0.996)
    """
    weights, measures = {} if weights is None else weights, {} if measures is None else measures
    _check_settings(weights, measures)
    return RecordPrint(canonical_json(data), tuple(weights.items()), tuple(measures.items()), bits, size)


def records(
    items: Iterable[Mapping[str, Any]],
    *,
    weights: Mapping[str, float] | None = None,
    measures: Mapping[str, str] | None = None,
    bits: int = 64,
    size: int = 128,
    workers: int = 1,
) -> list[RecordPrint]:
    """The fingerprints of many records, in their order; they do not depend on ``workers``."""
    if isinstance(items, Mapping | str | bytes) or not isinstance(items, Iterable):
        raise InputError(f"items of type {type(items).__name__}: give a list of records, or call record() for one")
    check_workers(workers)
    made: list[RecordPrint] = []
    for index, item in enumerate(items):
        try:
            made.append(record(item, weights=weights, measures=measures, bits=bits, size=size))
        except InputError as error:
            raise InputError(f"item {index}: {error}") from error
    for first in range(0, len(made), _AT_A_TIME):
        some = made[first : first + _AT_A_TIME]
        found = sketched([each._data for each in some], dict(some[0].weights), bits, size, workers)
        for each, sketch in zip(some, found, strict=True):
            each._made[""] = sketch
    return made


def check_data(data: Mapping[str, Any], weights: Mapping[str, float], measures: Mapping[str, str]) -> None:
    """An ``InputError`` for canonical data with a value that its measure cannot take: kept, it would stop whoever meets it later."""
    for name, value in data.items():
        if weights.get(name, 1.0) or name in measures:
            check_comparable(value, name, measures.get(name))


def comparable_data(data: object, weights: Mapping[str, float], measures: Mapping[str, str]) -> dict[str, Any]:
    """The canonical data of a record that is to be compared with others."""
    made = canonical_data(data)
    check_data(made, weights, measures)
    return made


def comparable_documents(
    documents: Iterable[Document], weights: Mapping[str, float], measures: Mapping[str, str], report: Callable[[Problem], object]
) -> Iterator[Document]:
    """Without the records that nothing could be compared with: one bad row costs that row."""
    for document in documents:
        try:
            if document.record is not None:
                comparable_data(document.record, weights, measures)
        except InputError as error:
            report(Problem("unusable columns", f"document {document.id!r:.80}", str(error)))
        else:
            yield document


def features_recipe(weights: Mapping[str, float]) -> str:
    """The id of what makes the fingerprints of a record: the weights, and version 1 of the features."""
    content = to_json({"version": VERSION, "weights": dict(weights)})
    return f"record-features.{hashlib.sha256(content.encode()).hexdigest()[:12]}"


def sketched(items: list[dict[str, Any]], weights: Mapping[str, float], bits: int, size: int, workers: int = 1) -> list[FieldPrint]:
    """The fingerprints of records of canonical data, made in one call."""
    words, values = sketch_records(items, weights, bits, size, workers)
    recipe, width = features_recipe(weights), bits // 64 or 1
    found = []
    for place in range(len(items)):
        low = sum(words[place * width + word] << 64 * word for word in range(width))
        own = tuple(values[place * size : (place + 1) * size])
        found.append(
            FieldPrint(SimHash(low, bits, f"simhash-{bits}/{recipe}"), WeightedMinHash(own, f"{WeightedMinHash.kind}-{size}/{recipe}"))
        )
    return found


def _sizes(data: Mapping[str, Any]) -> tuple[int, int]:
    """The sizes of the fingerprints that a dictionary has; of our own where it has none."""
    if isinstance(sizes := data.get("sizes"), list) and len(sizes) == 2:
        return sizes[0], sizes[1]
    simhash, minhash = data.get("simhash"), data.get("minhash")
    bits = field(simhash, "bits", "simhash", int) if simhash is not None else 64
    return bits, len(field(minhash, "values", WeightedMinHash.kind, list, tuple)) if minhash is not None else 128


def _check_settings(weights: object, measures: object) -> None:
    for name, setting in (("weights", weights), ("measures", measures)):
        if not isinstance(setting, Mapping) or not all(isinstance(key, str) for key in setting):
            raise InputError(f"record {name}={setting!r}: give a mapping whose keys are field names")


def _checked_weights(weights: Mapping[str, float]) -> dict[str, float]:
    for name, weight in weights.items():
        usable = is_number(weight) and (weight == 0 or MIN_WEIGHT <= weight <= MAX_WEIGHT)
        if not usable:
            allowed = f"0, or a number from {MIN_WEIGHT} to {MAX_WEIGHT:.0e}"
            raise InputError(f"record weight of {name!r} is {shown_value(weight)}: give {allowed}")
    # A weight of 1 is what a field has anyway: with and without it the recipe is the same.
    return {joined_surrogates(name): float(weight) for name, weight in weights.items() if weight != 1}


def _checked_measures(measures: Mapping[str, str], data: Mapping[str, Any]) -> dict[str, str]:
    checked = {joined_surrogates(name): measure for name, measure in measures.items()}
    for name, measure in checked.items():
        if not isinstance(measure, str):
            raise InputError(f"record measure of {name!r} is {measure!r}: give a name, one of {', '.join(field_measures)}")
        field_measures.get(measure)
        if name in data:
            compared(data[name], data[name], name, measure)  # a measure that cannot take the value says so now
    return checked


def _recipe(weights: dict[str, float], measures: dict[str, str]) -> str:
    versions = {name: f"{measure}@{field_measures.version(measure)}" for name, measure in measures.items()}
    content = to_json({"version": 1, "weights": weights, "measures": versions})
    return f"record.{hashlib.sha256(content.encode()).hexdigest()[:12]}"
