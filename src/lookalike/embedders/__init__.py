"""Models that turn texts into vectors: one Protocol, adapters for several kinds of models, a cache."""

from lookalike.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "lookalike.embedders.base": "Embedder",
        "lookalike.embedders.causal": "CausalModel causal_model",
    },
)
