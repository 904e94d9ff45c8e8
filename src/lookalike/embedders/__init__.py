"""Models that turn texts into vectors: one Protocol, adapters for several kinds of models, a cache."""
