"""Clusters across shards. A document and the one that leads its cluster may be in different shards, whose rows have nothing in common.

So a shard keeps, in the place of a row, a number that stands for the leader: made of the leader's id and of the number that the leader got
when it was added, so that another document under the same id is another one. The member's meta names the id, by which the leader is found.
Somebody who opens a shard alone sees a cluster whose leader is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

from lookalike.stores.base import Additions, Link, Reader
from lookalike.stores.ids import Id
from lookalike.stores.shards.routing import MAX_SHARDS, leader_of, written_id

if TYPE_CHECKING:
    from lookalike.stores.shards.reading import ShardReader

ELSEWHERE = -(1 << 62)  # numbers up to this stand for a document; those up to -1 for a row that is gone from its shard


def standing_for(id_: Id, number: int) -> int:
    """What a shard keeps for a leader."""
    digest = blake2b(b"%d %s" % (number, written_id(id_)), digest_size=8).digest()
    return ELSEWHERE - (int.from_bytes(digest, "big") >> 2)


def links_elsewhere(batch: Additions, numbers: Sequence[int], number_of: Callable[[Sequence[Id]], dict[Id, int]]) -> dict[Id, Link]:
    """The links of a batch as shards keep them, without those to a leader that is nowhere. ``number_of`` knows stored documents."""
    if not batch.links:
        return {}
    own = dict(zip(batch.ids, numbers, strict=True))
    links = {id_: link for id_, link in batch.links.items() if id_ in own}
    known = own | number_of([link.leader for link in links.values() if link.elsewhere is None and link.leader not in own])
    linked = {id_: link for id_, link in links.items() if link.elsewhere is not None or link.leader in known}
    return {
        id_: link if link.elsewhere is not None else link._replace(elsewhere=standing_for(link.leader, known[link.leader]))
        for id_, link in linked.items()
    }


def rooted(link: Link, whole: ShardReader) -> Link:
    """With what stands for the root of its cluster in the place of a row, which only this reader knows."""
    root = link.root
    if root is not None and root >= 0:
        elsewhere = standing_for(whole.ids_of([root]).get(root, link.leader), whole.number_of(root))
        return link._replace(elsewhere=elsewhere, root=None)
    return link._replace(elsewhere=root if root is not None and root <= ELSEWHERE else None, root=None)


def links_of(whole: ShardReader, rows: Sequence[int]) -> dict[int, tuple[int, float]]:
    """See ``stores.base.Reader.links``."""
    homes: dict[int, list[int]] = {}
    for row in rows:
        part, local = whole.place_of(row)
        homes.setdefault(part, []).append(local)
    found: dict[int, tuple[int, float]] = {}
    for part, locals_ in homes.items():
        reader = whole.part(part)
        linked = [(root, local, similarity) for local, (root, similarity) in reader.links(locals_).items()]
        found |= {row: (root, similarity) for root, row, similarity in _named(whole, part, reader, linked)}
    return found


def linked_to(whole: ShardReader, rows: Sequence[int] | None) -> list[tuple[int, int, float]]:
    """See ``stores.base.Reader.linked_to``."""
    parts = whole.all_parts()
    if rows is None:
        return sorted(each for part, reader in parts for each in _named(whole, part, reader, reader.linked_to(None)))
    wanted: dict[int, int] = {row: row for row in rows if row <= ELSEWHERE}  # what stands for a document, and its row
    here: dict[int, dict[int, int]] = {}  # by shard, of links that were made there
    for row in rows:
        if ELSEWHERE < row < 0:
            local, part = divmod(-1 - row, MAX_SHARDS)
            here.setdefault(part, {})[local] = row
    for row, record in whole.records([row for row in rows if row >= 0], ()).items():
        part, local = whole.place_of(row)
        here.setdefault(part, {})[local] = row
        wanted[standing_for(record.id, whole.number_of(row))] = row
    found = []
    for part, reader in parts:
        roots = wanted | here.get(part, {})
        linked = reader.linked_to(list(roots))
        members = whole.translated(part, reader, [local for _, local, _ in linked])
        found += [(roots[root], row, similarity) for (root, _, similarity), row in zip(linked, members, strict=True)]
    return sorted(found)


def _named(whole: ShardReader, part: int, reader: Reader, linked: Sequence[tuple[int, int, float]]) -> list[tuple[int, int, float]]:
    """Links as a shard has them, (what it was linked to, row, similarity), with rows of the whole."""
    members = whole.translated(part, reader, [local for _, local, _ in linked])
    metas = reader.records([local for root, local, _ in linked if root <= ELSEWHERE], ("meta",))
    leaders = dict.fromkeys(leader for record in metas.values() if (leader := leader_of(record.meta)) is not None)
    there = {standing_for(id_, whole.number_of(row)): row for id_, row in whole.rows_of(list(leaders)).items()}
    own = list(reader.ids_of([root for root, _, _ in linked if root > ELSEWHERE]))  # somebody linked them in the shard itself
    there |= dict(zip(own, whole.translated(part, reader, own), strict=True))
    return [
        (there.get(root, root if root <= ELSEWHERE else -1 - (root * MAX_SHARDS + part)), row, similarity)
        for (root, _, similarity), row in zip(linked, members, strict=True)
    ]
