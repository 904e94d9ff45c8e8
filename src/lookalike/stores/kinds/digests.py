"""What the fuzzy digests of bytes share, ``ssdeep`` and ``tlsh``; and ``fuzzy``, the search by both."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import InputError
from lookalike.fingerprints.fuzzy_ssdeep import Ssdeep
from lookalike.fingerprints.fuzzy_tlsh import Tlsh
from lookalike.recipe import require_same
from lookalike.segments.hamming import NO_LIMIT
from lookalike.stores.base import Reader, Segments
from lookalike.stores.given import Given
from lookalike.stores.kinds.base import Asked, Kind, Options, Way
from lookalike.stores.matches import Match, Matches
from lookalike.stores.settings import Settings
from lookalike.stores.stretches import Stretch

THRESHOLD = 0.5


class FuzzyFound(NamedTuple):
    """Rows by their fuzzy digests, best first, then by row; ``total`` is how many there were before the limit."""

    rows: NDArray[np.int64]
    values: NDArray[np.int64]  # TLSH distances, or ssdeep scores
    total: int


@dataclass(slots=True)
class NearDigests(Asked[FuzzyFound]):
    """All rows whose digest is within a distance, or has a score."""

    digest: str
    bound: int
    limit: int

    best_first: ClassVar[int]  # 1: small values are better, -1: large ones

    def in_segments(self, segments: Segments) -> FuzzyFound:
        all_live = not len(segments.removed)
        found = [segment.search(self.digest, self.bound, self.limit if all_live else NO_LIMIT) for segment in segments.all]
        if all_live and len(found) == 1:
            rows, values, total = found[0]
            return FuzzyFound(rows, values.astype(np.int64), total)  # in order
        rows, values = _joined(found)
        if all_live:
            return self.best(rows, values)._replace(total=sum(each.total for each in found))
        live = segments.live(rows)
        return self.best(rows[live], values[live])

    def best(self, rows: NDArray[np.int64], values: NDArray[np.int64]) -> FuzzyFound:
        order = np.lexsort((rows, self.best_first * values))[: self.limit]
        return FuzzyFound(rows[order], values[order], len(rows))


def _joined(found: Sequence[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    rows = np.concatenate([np.zeros(0, np.int64), *(each[0] for each in found)])
    return rows, np.concatenate([np.zeros(0, np.int64), *(each[1] for each in found)]).astype(np.int64)


class ByDigest(Way):
    """Files whose bytes are alike."""

    takes = "bytes"
    parameter, also = "digest", ("fuzzy",)
    digest: ClassVar[type[Ssdeep] | type[Tlsh]]
    make: staticmethod[[Any], Ssdeep | Tlsh]  # the digest of bytes, of a text's UTF-8 or of a file

    @abstractmethod
    def near(self, digest: str, threshold: float, limit: int) -> NearDigests:
        """The question that finds digests from this similarity on."""

    @abstractmethod
    def scored(self, value: int) -> tuple[float, int]:
        """The similarity and the distance that a value means."""

    def is_of(self, fingerprint: object) -> bool:
        return isinstance(fingerprint, self.digest)

    def query(self, thing: Any, settings: Settings) -> Any:
        return self.given(self.make(thing), settings)

    def given(self, fingerprint: Any, settings: Settings) -> Any:
        if not isinstance(fingerprint, (Ssdeep, Tlsh)):
            raise InputError(f"digest is a {type(fingerprint).__name__}: give an Ssdeep or a Tlsh, as la.ssdeep and la.tlsh make them")
        if fingerprint.value is None:
            raise InputError(f"this {fingerprint.kind} has no value to search for: {fingerprint.status}")
        return fingerprint.value

    def find(self, reader: Reader, settings: Settings, query: Any, options: Options) -> Matches:
        found = reader.find(self.near(query, options.least(THRESHOLD), options.limit))
        scored = map(self.scored, found.values.tolist())
        return Matches(_matches(reader, found.rows.tolist(), scored), found.total)


class DigestKind(Kind):
    """Column: the digest as its tool writes it; None where the bytes are too few or too uniform."""

    by_default = in_schema = True
    of_bytes = True
    made_from_text = False  # it may be of a file
    lasting = True
    digest: ClassVar[type[Ssdeep] | type[Tlsh]]

    @abstractmethod
    def digests(self, things: Sequence[Any], workers: int) -> Sequence[Any]:
        """The digests of bytes, of texts' UTF-8 or of files."""

    def recipe(self, settings: Settings) -> str:
        return self.digest(None, "none").recipe

    def made(self, given: Given, settings: Settings, workers: int) -> dict[str, Any]:
        return {self.name: [each.value for each in self.digests(given.things(), workers)]}

    def build(self, stretch: Stretch, settings: Settings) -> Any:
        return self.segment.build(*stretch.columns[self.name])

    def print_of(self, value: Any, settings: Settings) -> dict[str, Any]:
        return self.digest(value).to_dict()

    def read_print(self, data: Any, settings: Settings) -> Any:
        found = self.digest.from_dict(data)
        require_same(found.recipe, self.recipe(settings))
        return found.value


class Fuzzy(Way):
    """By both digests: a document's score is the larger of the two similarities."""

    name, scale, place = "fuzzy", "tlsh or ssdeep", 4
    takes = "bytes"
    parts: ClassVar[tuple[str, ...]] = ("ssdeep", "tlsh")  # kinds, whose ways have their names

    def query(self, thing: Any, settings: Settings) -> Any:
        kinds = [kind for kind in settings.stored if kind.name in self.parts]
        ways = [way for kind in kinds for way in kind.ways if isinstance(way, ByDigest)]
        if not ways:
            raise InputError("this collection has no fuzzy digests: make another one with kinds='ssdeep,tlsh'")
        digests = [(way, way.make(thing)) for way in ways]
        notes = [f"no {each.kind} of the query: {each.status}" for _, each in digests if each.value is None]
        return [(way, each.value) for way, each in digests if each.value], notes

    def find(self, reader: Reader, settings: Settings, query: Any, options: Options) -> Matches:
        digests, notes = query
        least, limit = options.least(THRESHOLD), options.limit
        scores: dict[int, float] = {}
        rows: list[NDArray[np.int64]] = []
        for way, digest in digests:
            found = reader.find(way.near(digest, least, NO_LIMIT))
            # The best of all are among the best of each.
            for row, value in zip(found.rows[:limit].tolist(), found.values[:limit].tolist(), strict=True):
                scores[row] = max(scores.get(row, 0.0), way.scored(value)[0])
            rows.append(found.rows)
        best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:limit]
        scored = ((score, 1 - score) for _, score in best)
        return Matches(_matches(reader, [row for row, _ in best], scored), _count_together(rows), notes)


def _matches(reader: Reader, rows: Sequence[int], scored: Iterable[tuple[float, float]]) -> Iterator[Match]:
    """With what is kept beside their documents, which is read with the ids."""
    records = reader.records(rows, ("meta",))
    for row, (score, distance) in zip(rows, scored, strict=True):
        match = Match(records[row].id, score, distance, row=row)
        match.carry(records[row].meta)
        yield match


def _count_together(rows: Sequence[NDArray[np.int64]]) -> int:
    """How many rows there are in several lists, of which each has a row once."""
    count = 0
    for place, each in enumerate(rows):
        before = np.concatenate([np.zeros(0, np.int64), *rows[:place]])
        count += len(each) - int(np.isin(each, before).sum())
    return count
