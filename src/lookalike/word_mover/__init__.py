"""Word Mover's Distance: word vectors, bags of words, exact transport between them, and the nearest texts of a collection."""

from lookalike.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "lookalike.word_mover.index": "WmdIndex WmdMatch",
        "lookalike.word_mover.loading": "word_vectors",
        "lookalike.word_mover.mover": "WordMover",
        "lookalike.word_mover.tables": "WordTable",
    },
)
