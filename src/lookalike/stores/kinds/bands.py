"""What the kinds share that are found by bands of a MinHash: ``minhash``, of texts, and ``structure``, of web pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.figures import shown_share
from lookalike.stores.base import Reader, Segments
from lookalike.stores.ids import Id
from lookalike.stores.kinds.base import Asked
from lookalike.stores.matches import Match, Matches
from lookalike.stores.postgres.copying import WORD, mixed
from lookalike.stores.settings import Settings

if TYPE_CHECKING:
    from lookalike.stores.postgres.reading import PostgresReader

MAX_CANDIDATES = 10_000  # groups of equal documents that a search by bands verifies


class Group(NamedTuple):
    """Documents of equal contents that share bands with a query."""

    digest: int
    rows: Sequence[int]  # ascending; the oldest of them, where there are more than were asked for
    size: int
    shared: int  # bands


class BandGroups(NamedTuple):
    groups: list[Group]
    total: int  # how many groups there were before the limit


class BandTables(NamedTuple):
    """Where PostgreSQL has the bands of a kind: one row for each digest, and the documents that have a digest."""

    sketches: str
    more: tuple[str, ...]  # its columns beside collection, digest and bands, each with its type
    members: str
    digest: str  # the column of ``members``

    def add(self) -> str:
        """In order of the digests: two writers that add the same contents meet in the same order, and none waits for the other in turn."""
        names = [column.split()[0] for column in self.more]
        listed = "".join(f", {name}" for name in names)
        arrays = "".join(f", %({column.split()[0]})s::{column.split()[1]}[]" for column in self.more)
        return f"""
INSERT INTO lookalike.{self.sketches} (collection, digest{listed}, bands)
SELECT %(collection)s, digest{listed}, (%(keys)s::bigint[])[(place - 1) * %(bands)s + 1 : place * %(bands)s]
FROM unnest(%(digests)s::bigint[]{arrays}) WITH ORDINALITY AS s (digest{listed}, place) ORDER BY digest
ON CONFLICT DO NOTHING
"""  # noqa: S608

    def sharing(self) -> str:
        return f"SELECT * FROM lookalike.{self.sketches}_sharing(%(collection)s, %(keys)s, %(limit)s, %(rows)s)"  # noqa: S608

    def drop(self) -> str:
        """The sketches that no document has any more."""
        return (
            f"DELETE FROM lookalike.{self.sketches} s WHERE collection = %s AND NOT EXISTS "  # noqa: S608
            f"(SELECT FROM lookalike.{self.members} m WHERE m.collection = s.collection AND m.{self.digest} = s.digest)"
        )


@dataclass(slots=True)
class SharingBands(Asked[BandGroups]):
    """Groups that share a band key with the query, at most ``limit`` of them with at most ``rows`` rows each."""

    keys: Any  # numbers of 32 bits, in an array or a view of one
    limit: int
    rows: int

    tables: ClassVar[BandTables]

    def in_segments(self, segments: Segments) -> BandGroups:
        groups: list[Group] = []
        total = 0
        removed = segments.removed
        for segment in segments.all:
            before, found = segment.near(self.keys, self.limit, self.rows, removed)
            total += before
            groups += [Group(digest, rows, size, shared) for shared, digest, size, rows in found]
        if len(groups) > 1:
            groups.sort(key=lambda group: (-group.shared, group.rows[0]))
        return BandGroups(groups[: self.limit], total)

    def in_postgres(self, tables: PostgresReader) -> BandGroups:
        keys = band_entries(np.asarray(self.keys), tables.collection).reshape(-1)
        arguments = {"keys": keys, "collection": tables.collection, "limit": self.limit, "rows": self.rows}
        found = tables.connection.execute(self.tables.sharing(), arguments).fetchall()
        groups = [Group(digest % WORD, members, size, shared) for digest, shared, size, _, members in found if members]
        return BandGroups(groups, found[0][3] if found else 0)


def band_keys(values: NDArray[np.uint32], settings: Settings) -> NDArray[np.uint32]:
    """The band keys of MinHashes, one after the other."""
    banding = settings.banding
    return np.asarray(_native.band_keys(np.ascontiguousarray(values).reshape(-1), settings.size, banding.bands, banding.rows))


def band_entries(keys: NDArray[np.uint32], collection: int) -> NDArray[np.int64]:
    """Band keys as the indexes of PostgreSQL have them: with the number of the band, mixed with the collection."""
    return mixed(keys.astype(np.uint64) | np.arange(keys.shape[-1], dtype=np.uint64) << np.uint64(32), collection)


def near_notes(settings: Settings, threshold: float, candidates: int) -> list[str]:
    notes = []
    if threshold < settings.threshold:
        recall = settings.banding.recall(threshold)
        notes.append(
            f"the bands were chosen for {settings.threshold}: of documents with a similarity of {threshold} they find"
            f" {shown_share(recall, 0)}"
        )
    if candidates > MAX_CANDIDATES:
        notes.append(f"{candidates} candidates: the {MAX_CANDIDATES} that share the most bands were verified")
    return notes


def ranked(
    reader: Reader,
    groups: list[Group],
    scores: Mapping[int, float],
    threshold: float,
    limit: int,
    notes: list[str],
    explain: Callable[[int], Any],
    known: dict[int, Id],
) -> Matches:
    """The best rows of the groups that reach the threshold; equal ones in order of their age.

    ``scores`` has those of all rows of a group, or the one of its first row for all. ``explain`` gives what names the passages of a row,
    or None where its score is an estimate; ``known`` are ids that were read.
    """
    scored = [(scores.get(row, scores[group.rows[0]]), row, group) for group in groups for row in group.rows]
    passed = [each for each in scored if each[0] >= threshold]
    best = sorted((-score, row, row if row in scores else group.rows[0]) for score, row, group in passed)[:limit]
    unknown = [row for _, row, _ in best if row not in known]
    ids = known | ids_of(reader, unknown) if unknown else known
    matches = []
    for score, row, first in best:
        why = explain(first)
        matches.append(Match(ids[row], -score, 1 + score, why or (), estimated=why is None, row=row))
    if any(match.estimated for match in matches):
        notes.append("scores are estimated from MinHashes where there is no text to verify them on")
    # Rows of a group that the limit left out are like those that it did not.
    beyond = sum(group.size - len(group.rows) for group in groups if scores[group.rows[0]] >= threshold)
    return Matches(matches, len(passed) + beyond, notes)


def ids_of(reader: Reader, rows: Sequence[int]) -> dict[int, Id]:
    return {row: record.id for row, record in reader.records(rows, ()).items()}
