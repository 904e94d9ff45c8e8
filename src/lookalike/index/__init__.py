"""Indexes: a recipe and a store, searchable."""

from lookalike.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "lookalike.index.admit": "Admitted",
        "lookalike.index.asynchronous": "AsyncIndex",
        "lookalike.index.collections": "Collections",
        "lookalike.index.kept_vectors": "KeptModel kept_model",
        "lookalike.index.own_tables": "TableCollection drop_collection index_table",
        "lookalike.index.search": "SimhashMatches VectorMatches",
        "lookalike.index.set_index": "SetIndex",
        "lookalike.segments.band_index": "BandIndex",
        "lookalike.stores.base": "Added CheckReport",
        "lookalike.stores.clusters": "Cluster Clusters Member",
        "lookalike.stores.matches": "FieldMatch Match Matches",
    },
)
