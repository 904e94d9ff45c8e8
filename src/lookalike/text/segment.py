"""Chinese words: functions, by name, that cut a text into spans.

========================  ==========================================================================================
``jieba``                 the words jieba 0.42.1 finds, computed by rjieba
``fmm:WORDS``             forward maximum matching; WORDS is a registered word list or a file
``bmm:WORDS``             backward maximum matching
``nsp:WORDS``             N-shortest paths, N = 3 (``nsp/8:WORDS``: 8); WORDS is a registered dictionary, a file, or ``jieba``
``jieba-with:WORDS``      jieba with a dictionary of the user's beside its own
``thulac``                THULAC, which carries its model
``pkuseg``                pkuseg with its default model, fetched at first use; ``pkuseg:DIRECTORY`` for another
``ltp:DIRECTORY``         LTP with the model in that directory
``hanlp:DIRECTORY``       HanLP, the same
``code:LANGUAGE``         source code: what stays of it when names, literals, comments and layout do not count
``module:function``       any function that takes a text and returns spans, or tokens in the order of the text
========================  ==========================================================================================

Spans are code points of the original text, in order, without overlap. White space separates and is never a token;
punctuation is. Nothing is normalised here: that happens token by token, later, so that spans stay true.

``jieba`` follows jieba to the letter, also where rjieba 0.2.2 does not:

* rjieba keeps ``foo-bar``, ``foo_bar`` and ``a.b`` in one piece. jieba cuts them (``foo``, ``-``, ``bar``) and so do we:
  a hyphen must not hide the words that the IDF table and the stop words know.
* rjieba glues rare ideographs (extensions A to H, compatibility forms) into chance words. jieba takes each as a word.
* Lone surrogates, which rjieba cannot take, are words of one character.

Like jieba, it knows words of ideographs and of ASCII letters and digits only: an accented, full-width or other letter is a
word of one character.
"""

from __future__ import annotations

import functools
import importlib
import operator
import re
import threading
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any, Protocol, cast

from lookalike.errors import InputError, MissingExtra
from lookalike.model import Span, Token
from lookalike.registry import Registry

if TYPE_CHECKING:
    import rjieba

Segmenter = Callable[[str], list[Span]]
CutFunction = Callable[[str], Iterable[Any]]
"""What a user may register: it returns spans, ``(word, start, end)`` triples, or the words alone."""

# Written out, because what Python takes for white space may change with its Unicode version.
WHITE_SPACE = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
_BLANK_TOKENS = frozenset(WHITE_SPACE) | {"\r\n"}

# Not a word character for jieba, but one for rjieba: replaced one for one before rjieba sees the text.
_OUTSIDE_JIEBA = re.compile("[\ud800-\udfff\u3400-\u4dbf\u9fd6-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_COMPOUND = re.compile("[A-Za-z0-9][._-][A-Za-z0-9]")
_COMPOUND_PARTS = re.compile(r"[A-Za-z0-9]+(?:\.[0-9]+)?%?|[^A-Za-z0-9]+")


class _Family(Protocol):
    """A module that provides the segmenters whose names start with a scheme."""

    def load(self, scheme: str, argument: str) -> Segmenter: ...
    def version(self, scheme: str, argument: str) -> str: ...


_FAMILIES = {
    "fmm": "lookalike.text.maximum_matching",
    "bmm": "lookalike.text.maximum_matching",
    "nsp": "lookalike.text.shortest_paths",
    "jieba-with": "lookalike.text.user_dictionary",
    "pkuseg": "lookalike.text.model_segmenters",
    "ltp": "lookalike.text.model_segmenters",
    "hanlp": "lookalike.text.model_segmenters",
    "code": "lookalike.text.code",
}

_ARGUMENTS = {
    "lookalike.text.maximum_matching": "the name of a word list or a file",
    "lookalike.text.shortest_paths": "the name of a dictionary or a file",
    "lookalike.text.user_dictionary": "the name of a dictionary or a file",
    "lookalike.text.code": "a language, such as python",
}

_LIBRARIES = {"jieba": "rjieba", "thulac": "thulac", "pkuseg": "spacy-pkuseg"}  # the distribution that decides the output
_OF_LIBRARY = "library"

segmenters: Registry[CutFunction] = Registry("segmenter", paths=True)
segmenters.register("jieba", "lookalike.text.segment:jieba_spans", version=_OF_LIBRARY)
segmenters.register("thulac", "lookalike.text.model_segmenters:thulac_spans", version=_OF_LIBRARY)
segmenters.register("pkuseg", "lookalike.text.model_segmenters:pkuseg_spans", version=_OF_LIBRARY)


def segmenter(name: str) -> Segmenter:
    """The function behind a name, from a text to spans. Models are loaded at its first call."""
    family, scheme, argument = _family(name)
    if family is not None:
        return family.load(scheme, argument)
    function = segmenters.get(name)
    if segmenters.version(name) == _OF_LIBRARY:
        return cast(Segmenter, function)
    return adapt(function, name)


def segmenter_version(name: str) -> str:
    """What a recipe id records of a segmenter: it changes whenever the segmentation may change.

    That is our own revision and the installed version of the library that decides the output, the digest of a word
    list or of the files of a model, or the version that a user's function was registered with. A function named as
    ``module:function`` has no version of its own: register it with one before its output changes.
    """
    family, scheme, argument = _family(name)
    if family is not None:
        return family.version(scheme, argument)
    version = segmenters.version(name)
    return f"1-{installed(_LIBRARIES[name], name)}" if version == _OF_LIBRARY else version


def is_registered(name: str) -> bool:
    """Whether a name is one of the registry, and its argument registered or a known language: no module, no file, no folder."""
    scheme, colon, argument = name.partition(":")
    if colon and (home := _home(scheme)) is not None:
        known: Callable[[str], bool] | None = getattr(importlib.import_module(home), "is_registered", None)
        return known is not None and known(argument)
    return name in segmenters


def rewriter(name: str) -> Callable[[str], list[Token]] | None:
    """For ``code:LANGUAGE``: the function from a text to tokens whose normal forms are not what stands in the text."""
    if not name.startswith("code:"):
        return None
    family, scheme, argument = _family(name)
    return cast(Any, family).load_tokens(scheme, argument)  # type: ignore[no-any-return]


def adapt(function: CutFunction, name: str) -> Segmenter:
    """Any function that cuts a text, as one that returns checked spans."""

    def spans(text: str) -> list[Span]:
        found = function(check_text(text))
        if isinstance(found, str | bytes) or not isinstance(found, Iterable):
            raise InputError(f"segmenter {name!r} returned {_short(found)}: it must return a list of spans or of words")
        items = list(found)
        if items and isinstance(items[0], str):
            return locate(text, items, name)
        return _checked(text, items, name)

    return spans


def locate(text: str, words: Iterable[str], name: str) -> list[Span]:
    """Where the words stand, from left to right. A word may be left out, but not changed. Blank ones are dropped."""
    spans: list[Span] = []
    position = 0
    for word in words:
        if not isinstance(word, str):
            raise InputError(f"segmenter {name!r} returned {_short(word)} among words: it must return spans only or words only")
        bare = word.strip(WHITE_SPACE)
        if not bare:
            continue
        start = text.find(word, position)
        if start < 0:
            raise InputError(
                f"segmenter {name!r} returned {_short(word)}, which does not occur in the text after position {position}: "
                "words must be pieces of the text, unchanged and in order"
            )
        position = start + len(word)
        start += len(word) - len(word.lstrip(WHITE_SPACE))
        spans.append((start, start + len(bare)))
    return spans


def _checked(text: str, items: list[Any], name: str) -> list[Span]:
    spans: list[Span] = []
    position = 0
    for item in items:
        try:
            start, end = map(operator.index, item[-2:])  # a span, or a triple like Token and what jieba.tokenize gives
        except (TypeError, ValueError, KeyError) as error:
            raise InputError(f"segmenter {name!r} returned {_short(item)}: expected a span (start, end) in code points") from error
        if not position <= start < end <= len(text):
            raise InputError(
                f"segmenter {name!r} returned the span ({start}, {end}) after position {position} of a text of {len(text)} code points: "
                "spans must be in order, without overlap, inside the text and not empty"
            )
        if text[start:end].strip(WHITE_SPACE):
            spans.append((start, end))
        position = end
    return spans


def jieba_spans(text: str) -> list[Span]:
    """The words jieba 0.42.1 finds. Any number of threads may call this."""
    return spans_by_jieba(_jieba(), text)


def spans_by_jieba(jieba: rjieba.Jieba, text: str, whole: Collection[str] = ()) -> list[Span]:
    """The same with a dictionary of its own; words that are ``whole`` are not taken apart."""
    plain = _inside_jieba(check_text(text))
    words = jieba.tokenize(plain, "default")
    if not _COMPOUND.search(plain):
        return [(start, end) for word, start, end in words if word not in _BLANK_TOKENS]
    spans: list[Span] = []
    for word, start, end in words:
        if _is_compound(word) and word not in whole:
            spans += [(start + part.start(), start + part.end()) for part in _COMPOUND_PARTS.finditer(word)]
        elif word not in _BLANK_TOKENS:
            spans.append((start, end))
    return spans


def _is_compound(word: str) -> bool:
    return len(word) > 2 and word.isascii() and _COMPOUND.search(word) is not None


def piece_cutter(name: str) -> tuple[Callable[[str], list[str]], Callable[[str], str]] | None:
    """For ``jieba``: what cuts a text into rjieba's pieces, and what a text with characters outside jieba goes through before.

    The pieces are the whole text, white space too; ``native/text/words.hpp`` takes apart what jieba takes apart. Both functions may be
    called in any number of threads at once.
    """
    if name != "jieba" or segmenters.get(name) is not jieba_spans:
        return None
    return _jieba().cut, _inside_jieba


def _inside_jieba(text: str) -> str:
    return _OUTSIDE_JIEBA.sub("\ufffd", text)


def _jieba() -> rjieba.Jieba:
    with _LOADING:
        return _load_jieba()


_LOADING = threading.Lock()


@functools.cache
def _load_jieba() -> rjieba.Jieba:
    from rjieba import Jieba

    # A dictionary of our own: rjieba.add_word, called anywhere in the process, must not change our output.
    return Jieba()


def _family(name: str) -> tuple[_Family | None, str, str]:
    if not isinstance(name, str):
        raise InputError(f"segmenter {name!r}: expected a name, as a str")
    scheme, colon, argument = name.partition(":")
    home = _home(scheme)
    if home is None or (not colon and name in segmenters):
        return None, scheme, argument
    if not argument:
        raise InputError(f"segmenter {name!r}: write '{scheme}:' and {_ARGUMENTS.get(home, 'the directory of a model')}")
    return cast(_Family, importlib.import_module(home)), scheme, argument


def _home(scheme: str) -> str | None:
    """The module of a scheme; ``nsp/8`` is ``nsp`` with a number."""
    return _FAMILIES.get("nsp" if scheme.startswith("nsp/") else scheme)


@functools.cache
def installed(distribution: str, extra: str) -> str:
    """The name and version of an installed distribution, looked up once: what was imported stays what it was."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"{distribution}-{version(distribution)}"
    except PackageNotFoundError as error:
        raise MissingExtra.for_extra(f"segmenter {extra!r}", extra) from error


def check_text(text: str) -> str:
    if not isinstance(text, str):
        raise InputError(f"text={_short(text)}: expected a str, not {type(text).__name__}")
    return text


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
