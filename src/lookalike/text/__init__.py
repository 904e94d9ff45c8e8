"""From text to tokens, words, keywords and shingles. Everything carries the place it came from."""

from lookalike.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "lookalike.io": "TextFile decode_text read_text",
        "lookalike.model": "Passage Span Token",
        "lookalike.text.code": "Code",
        "lookalike.text.dictionaries": "register_dictionary",
        "lookalike.text.idf": "Idf idfs",
        "lookalike.text.keywords": "Keyword",
        "lookalike.text.learn": "learn_idf",
        "lookalike.text.maximum_matching": "register_words",
        "lookalike.text.normalize": "fold",
        "lookalike.text.segment": "segmenters",
        "lookalike.text.shingle": "shingles",
        "lookalike.text.stopwords": "register_stop_words",
    },
)
