"""Tokens with their places in the original text.

``auto``, ``words``, ``chars`` and ``symbols`` are native. Every other name is a segmenter (``jieba``, ``fmm:…``, ``module:function`` …)
that says where words stand; each word is then normalised like all others. Where forms do not count (``normalize="fold+script"``), tokens
are those of the text without these forms, and their places are those of the original.
"""

from __future__ import annotations

import functools
from array import array
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from lookalike import _native
from lookalike.checks import check_str
from lookalike.errors import InputError
from lookalike.model import Token
from lookalike.recipe import FORM_SEPARATOR, Recipe
from lookalike.text import segment
from lookalike.text.forms import Rewritten, check_forms, rewrite
from lookalike.text.native_form import NATIVE_MODES as NATIVE_MODES
from lookalike.text.native_form import NATIVE_NORMALIZERS as NATIVE_NORMALIZERS
from lookalike.text.native_form import native_form as native_form
from lookalike.text.normalize import as_str, fold, utf8

if TYPE_CHECKING:
    from lookalike._native import Buffer, Hashing

_SHORT_WORD = 32  # characters: longer ones are not remembered


class TokenStream(NamedTuple):
    """The tokens of one text as buffers: 64-bit hashes of the normal forms, starts and ends in code points.

    The hashes are secret ones, of this process (native/base/secret.hpp): two that are equal are those of equal tokens, whoever wrote the
    texts. Fingerprints are made of others, which everybody knows.
    """

    hashes: memoryview
    starts: memoryview
    ends: memoryview


def tokenizer_names() -> list[str]:
    return [*NATIVE_MODES, *segment.segmenters.names()]


def is_registered_tokenizer(name: str) -> bool:
    """Whether a name imports no module and reads no file that nobody registered."""
    return name in NATIVE_MODES or segment.is_registered(name)


def tokenize(text: str | bytes, tokenizer: str = "auto", normalize: str = "fold") -> list[Token]:
    """The tokens of a text, normalised, with code-point spans of the original.

    >>> [token.text for token in tokenize("Look, 相似！")]
    ['look', '相', '似']
    """
    folded, forms = _check_normalize(normalize)
    if forms:
        formed = rewrite(as_str(text), forms)
        return [Token(token.text, *formed.span(token.start, token.end)) for token in tokenize(formed.text, tokenizer)]
    if check_str("tokenizer", tokenizer, "the name of a tokenizer") in NATIVE_MODES:
        return [Token(*token) for token in _native.tokenize(utf8(text), NATIVE_MODES[tokenizer], folded)]
    return segmented(as_str(text), tokenizer, folded)


def _check_normalize(normalize: str) -> tuple[bool, tuple[str, ...]]:
    """Whether tokens are folded, and the forms that do not count."""
    name, *forms = normalize.split(FORM_SEPARATOR) if isinstance(normalize, str) else ("",)
    if name not in NATIVE_NORMALIZERS or (forms and name != "fold"):
        raise InputError(f"normalize={normalize!r}: tokens are made with 'fold' or 'none', or with 'fold+' and the names of forms")
    return name == "fold", check_forms(forms, name="normalize")


def segmented(text: str, tokenizer: str, folded: bool) -> list[Token]:
    """The tokens of a segmenter; words that fold to nothing (zero-width characters) are no tokens."""
    if rewritten := segment.rewriter(tokenizer):
        return rewritten(text)
    spans = segment.segmenter(tokenizer)(text)
    normal = _folded_word if folded else str
    tokens = (Token(normal(text[start:end]), start, end) for start, end in spans)
    return [token for token in tokens if token.text]


def _folded_word(word: str) -> str:
    """The same words come again and again."""
    return _known_word(word) if len(word) <= _SHORT_WORD else fold(word)


_known_word = functools.lru_cache(maxsize=1 << 14)(fold)


def token_texts(text: str, tokenizer: str = "auto") -> list[str]:
    """The normal forms alone."""
    if tokenizer in NATIVE_MODES:  # without an object per token, which takes longer than finding it
        return [token for token, _, _ in _native.tokenize(utf8(text), NATIVE_MODES[tokenizer], True)]
    if segment.rewriter(tokenizer):
        return [token.text for token in tokenize(text, tokenizer)]
    words = (_folded_word(text[start:end]) for start, end in segment.segmenter(tokenizer)(text))
    return [word for word in words if word]


def token_counts(text: str) -> Counter[str]:
    """How often each token occurs, in normal form and in the order of first occurrence."""
    words, counts = _native.count_tokens(utf8(text), NATIVE_MODES["auto"], True)
    return Counter(dict(zip(words, counts, strict=True)))


def stream(text: str | bytes, recipe: Recipe) -> TokenStream:
    """The tokens of a text as hashes with spans: what passages and edits compare."""
    folded, forms = _check_normalize(recipe.normalize)
    if forms:
        return _formed_stream(rewrite(as_str(text), forms), recipe.replace(normalize="fold"))
    if recipe.tokenizer in NATIVE_MODES:
        return TokenStream(*_native.token_stream(utf8(text), NATIVE_MODES[recipe.tokenizer], folded))
    plain = as_str(text)
    if rewritten := segment.rewriter(recipe.tokenizer):
        return stream_of(rewritten(plain))
    return TokenStream(*_native.hash_spans(utf8(plain), segment.segmenter(recipe.tokenizer)(plain), folded, True))


def _formed_stream(formed: Rewritten, recipe: Recipe) -> TokenStream:
    found = stream(formed.text, recipe)
    if formed.keeps_places:
        return found
    spans = [formed.span(start, end) for start, end in zip(found.starts, found.ends, strict=True)]
    starts, ends = array("I", [start for start, _ in spans]), array("I", [end for _, end in spans])
    return TokenStream(found.hashes, memoryview(starts), memoryview(ends))


def stream_of(tokens: list[Token]) -> TokenStream:
    """Tokens that were made elsewhere, as hashes with spans."""
    starts, ends = array("I", (token.start for token in tokens)), array("I", (token.end for token in tokens))
    return TokenStream(secret_strings([utf8(token.text) for token in tokens]), memoryview(starts), memoryview(ends))


class WordHashes(NamedTuple):
    """The hashes of the words of several texts, one text after the other, and where each text's begin and end."""

    hashes: Buffer
    offsets: Buffer


def token_hashes(text: str | bytes, recipe: Recipe) -> Buffer:
    """The hashes of the words that a segmenter finds: what fingerprints are made of."""
    return word_hashes([as_str(text)], recipe).hashes


def secret_token_hashes(text: str | bytes, recipe: Recipe, key: Buffer | None = None) -> Buffer:
    """The secret hashes of the same words, with a key of one's own or that of the process: what decisions compare."""
    return word_hashes([as_str(text)], recipe, secret=True, key=key).hashes


def word_hashes(texts: list[str], recipe: Recipe, *, secret: bool = False, key: Buffer | None = None) -> WordHashes:
    """The hashes of the words that a segmenter finds in each text: those that fingerprints are made of, or secret ones."""
    folded, forms = _check_normalize(recipe.normalize)
    if forms:
        texts = [rewrite(text, forms).text for text in texts]
    hashing = 0 if secret else recipe.hashing
    hashes, offsets = array("Q"), array("q", (0,))
    if recipe.tokenizer in NATIVE_MODES:
        for text in texts:
            words = [word for word, _, _ in _native.tokenize(utf8(text), NATIVE_MODES[recipe.tokenizer], folded)]
            hashes.frombytes((secret_strings(words, key) if secret else hash_strings(words, hashing)).tobytes())
            offsets.append(len(hashes))
        return WordHashes(hashes, offsets)
    pieces = segment.piece_cutter(recipe.tokenizer)
    if pieces is not None:
        return WordHashes(*_native.hash_cut(*_native.cut_texts(texts, *pieces), folded, secret, key, hashing))
    rewritten, spans_of = segment.rewriter(recipe.tokenizer), segment.segmenter(recipe.tokenizer)
    for text in texts:
        if rewritten is None:
            found = _native.hash_spans(utf8(text), spans_of(text), folded, secret, key, hashing)[0]
        else:
            normal = [utf8(token.text) for token in rewritten(text)]
            found = secret_strings(normal, key) if secret else hash_strings(normal, hashing)
        hashes.frombytes(found.tobytes())
        offsets.append(len(hashes))
    return WordHashes(hashes, offsets)


def secret_strings(strings: list[str] | list[bytes], key: Buffer | None = None) -> memoryview:
    """The secret hash of each string, as it is, with a key of one's own or that of the process."""
    return _native.secret_strings(*_native.pack_strings(strings), key)


def hash_strings(strings: list[str] | list[bytes], hashing: int | Hashing = 0) -> memoryview:
    """The token hash of each string, as it is; of ``hashing`` only the key counts."""
    return _native.hash_strings(*_native.pack_strings(strings), False, hashing)
