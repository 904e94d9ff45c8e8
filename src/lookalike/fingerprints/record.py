"""Records: structured data with a fingerprint, compared field by field.

A record is any JSON object. Its ``value`` is the SHA-256 of its canonical JSON, so equal data have equal values in any
order of keys and set elements.

The similarity of two records is the weighted mean over the fields of both, each scored by a measure: the default one of
its type, or one of ``field_measures`` by name.
A field that only one record has scores 0. A weight of 0 leaves a field out. Every other weight is 1 unless given.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any, ClassVar, NamedTuple, Self

from lookalike.errors import InputError, RecipeMismatch
from lookalike.figures import shown_value
from lookalike.fingerprints.base import check_pair, field, pack, unpack
from lookalike.fingerprints.canonical import canonical_json, from_json, joined_surrogates, to_json
from lookalike.fingerprints.field_measures import compared, field_measures

MIN_WEIGHT, MAX_WEIGHT = 1e-9, 1e9  # sums and products of weights stay exact enough


class Part(NamedTuple):
    """What one field contributes: its similarity, its weight, and the measure (``missing`` if one record lacks it)."""

    similarity: float
    weight: float
    measure: str


@dataclass(frozen=True, slots=True)
class RecordPrint:
    """A record's canonical JSON, with the weights and measures by which it is compared. Made by ``record``."""

    kind: ClassVar[str] = "record"

    canonical: str
    weights: tuple[tuple[str, float], ...] = ()
    measures: tuple[tuple[str, str], ...] = ()
    recipe: str = dataclass_field(init=False, compare=False)
    _data: dict[str, Any] = dataclass_field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        data = from_json(self.canonical)
        if not isinstance(data, dict) or to_json(data) != self.canonical:
            raise InputError("record canonical: not the canonical JSON of an object; make it by record()")
        weights, measures = _checked_weights(dict(self.weights)), _checked_measures(dict(self.measures), data)
        object.__setattr__(self, "weights", tuple(sorted(weights.items())))
        object.__setattr__(self, "measures", tuple(sorted(measures.items())))
        object.__setattr__(self, "recipe", _recipe(weights, measures))
        object.__setattr__(self, "_data", data)

    @property
    def value(self) -> str:
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

    def to_dict(self) -> dict[str, Any]:
        settings = {"weights": dict(self.weights), "measures": dict(self.measures)}
        return {"value": self.value, "data": self.data, **settings, "recipe": self.recipe}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        content, recipe = field(data, "data", cls.kind, Mapping), field(data, "recipe", cls.kind, str)
        weights, measures = data.get("weights") or {}, data.get("measures") or {}
        _check_settings(weights, measures)
        made = cls(canonical_json(content), tuple(weights.items()), tuple(measures.items()))
        if made.recipe != recipe:
            raise RecipeMismatch(f"record fingerprint of recipe {recipe}: its weights and measures now give {made.recipe}; make it anew")
        if data.get("value", made.value) != made.value:
            raise InputError(f"record fingerprint: its value {data['value']!r} is not that of its data")
        return made

    def to_bytes(self) -> bytes:
        content = {"data": self._data, "weights": dict(self.weights), "measures": dict(self.measures)}
        return pack(self.kind, self.recipe, to_json(content).encode())

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        recipe, payload = unpack(cls.kind, data)
        content = from_json(payload.decode("ascii", "replace"))
        if not isinstance(content, dict):
            raise InputError("record fingerprint: its content is not an object")
        return cls.from_dict({**content, "recipe": recipe})


def record(
    data: Mapping[str, Any], *, weights: Mapping[str, float] | None = None, measures: Mapping[str, str] | None = None
) -> RecordPrint:
    """The fingerprint of a record; ``weights`` and ``measures`` name its fields."""
    weights, measures = {} if weights is None else weights, {} if measures is None else measures
    _check_settings(weights, measures)
    return RecordPrint(canonical_json(data), tuple(weights.items()), tuple(measures.items()))


def records(
    items: Iterable[Mapping[str, Any]], *, weights: Mapping[str, float] | None = None, measures: Mapping[str, str] | None = None
) -> list[RecordPrint]:
    """The fingerprints of many records, in their order."""
    if isinstance(items, Mapping | str | bytes) or not isinstance(items, Iterable):
        raise InputError(f"items of type {type(items).__name__}: give a list of records, or call record() for one")
    made = []
    for index, item in enumerate(items):
        try:
            made.append(record(item, weights=weights, measures=measures))
        except InputError as error:
            raise InputError(f"item {index}: {error}") from error
    return made


def _check_settings(weights: object, measures: object) -> None:
    for name, setting in (("weights", weights), ("measures", measures)):
        if not isinstance(setting, Mapping) or not all(isinstance(key, str) for key in setting):
            raise InputError(f"record {name}={setting!r}: give a mapping whose keys are field names")


def _checked_weights(weights: Mapping[str, float]) -> dict[str, float]:
    for name, weight in weights.items():
        usable = isinstance(weight, int | float) and not isinstance(weight, bool) and (weight == 0 or MIN_WEIGHT <= weight <= MAX_WEIGHT)
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
