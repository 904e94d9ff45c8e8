"""Clusters that were kept as documents came: ``admit(…, alike="link")`` writes down which document each one belongs to."""

from __future__ import annotations

from itertools import groupby

from lookalike.errors import NotFound
from lookalike.stores.base import Reader, Store
from lookalike.stores.clusters import Cluster, Clusters, Member
from lookalike.stores.ids import Id


def cluster_of(store: Store, id_: Id) -> Cluster:
    with store.reading() as reader:
        row = reader.rows_of([id_]).get(id_)
        if row is None:
            raise NotFound(f"{store.name} has no document {id_!r}")
        root = reader.links([row]).get(row, (row, 1.0))[0]
        return _cluster(reader, root, [each[1:] for each in reader.linked_to([root])])[1]


def kept_clusters(store: Store) -> Clusters:
    """All with more than one document, in the order of those that lead them."""
    with store.reading() as reader:
        grouped = groupby(reader.linked_to(None), key=lambda each: each[0])
        found = [_cluster(reader, root, [each[1:] for each in members]) for root, members in grouped]
    return Clusters(cluster for _, cluster in sorted(found, key=lambda each: each[0]) if cluster.removed)


def _cluster(reader: Reader, root: int, members: list[tuple[int, float]]) -> tuple[int, Cluster]:
    """The oldest that is there leads; with its row. Similarities are to the document that the members were linked to."""
    ids = reader.ids_of([root, *(row for row, _ in members)])
    joined = [Member(ids[row], similarity) for row, similarity in members if row in ids]
    if root in ids:
        return root, Cluster(ids[root], tuple(joined))
    first = next(row for row, _ in members if row in ids)
    return first, Cluster(joined[0].id, tuple(joined[1:]))
