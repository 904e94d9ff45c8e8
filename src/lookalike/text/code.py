"""Source code as tokens that renaming and reformatting do not change, each with its place in the source.

============================  =================================================================================================
keywords, built-in names      stay as they are, in lower case
other names                   ``name``
numbers                       ``number``
strings                       ``string``; several in a row are one, as a formatter may cut or join them
operators, brackets           one token per sign: ``a>=-b`` and ``a >= - b`` are the same
comments, doc strings         nothing, and so are white space, semicolons, and a comma before a closing bracket
directives (``#include``)     their words: the names of files and directives stay, other names are names
============================  =================================================================================================

The tokenizer ``code:LANGUAGE`` is this for recipes: ``Recipe(tokenizer="code:python", ngram=8)`` serves winnowing, MinHash, SimHash and
stores. Pygments finds out what is a name, a string or a comment, and its version is part of recipe ids.
"""

from __future__ import annotations

import re
from bisect import bisect, bisect_left
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from lookalike.checks import check_str, refuse
from lookalike.corpus.contents import contents
from lookalike.errors import InputError, MissingExtra, UnknownName
from lookalike.lazy import cached_property
from lookalike.model import Span, Token
from lookalike.recipe import Recipe
from lookalike.text.languages import LANGUAGES
from lookalike.text.segment import Segmenter, installed

if TYPE_CHECKING:
    from pygments.lexer import Lexer

REVISION = "1"  # of the rules above; part of recipe ids
NGRAM = 8  # chosen with benchmarks/source_code.py: with 4, unrelated files have a third in common
MAX_CHARACTERS = 8 << 20  # pygments reads some hundred thousand per second

Tokens = Callable[[str], list[Token]]

_WORDS = re.compile(r"\w+|[^\w\s]")
_SOLID = re.compile(r"\S+")
_NAME, _NUMBER, _STRING = "name", "number", "string"
_CLOSING = frozenset(")]}")
_DIRECTIVES = frozenset(
    [
        "define",
        "undef",
        "include",
        "ifdef",
        "ifndef",
        "if",
        "elif",
        "else",
        "endif",
        "defined",
        "pragma",
        "error",
        "warning",
        "line",
        "import",
        "region",
        "endregion",
    ]
)


class Code:
    """Source code in a language: its text, and its tokens."""

    def __init__(self, text: str, language: str, *, name: str = "the code") -> None:
        self.text, self.language, self.name = text, language, name
        if len(text) > MAX_CHARACTERS:
            raise InputError(f"{name}: {len(text):,} characters of code; at most {MAX_CHARACTERS:,} are read: compare it as text")

    def __repr__(self) -> str:
        return f"Code({self.name!r}, {self.language}, {len(self.text):,} characters)"

    @cached_property
    def tokens(self) -> list[Token]:
        """The normal forms, with code-point spans of the source."""
        return code_tokens(self.language)(self.text)

    @property
    def recipe(self) -> Recipe:
        """What fingerprints of this code are made with."""
        return code_recipe(self.language)

    def without(self, spans: tuple[Span, ...]) -> Code:
        """The same code, where what stands in these spans does not count. They are in order and do not overlap."""
        if not spans:
            return self
        rest = Code(self.text, self.language, name=self.name)
        starts = [start for start, _ in spans]
        rest.tokens = [token for token in self.tokens if not (at := bisect(starts, token.start)) or spans[at - 1][1] < token.end]
        return rest


def code(source: str | Path, language: str | None = None) -> Code:
    """Source code: a ``str`` and its language, or a file, whose language its name says.

    >>> [token.text for token in code("total = price * 2  # twice", "python").tokens]
    ['name', '=', 'name', '*', 'number']
    """
    if isinstance(source, Path):
        found = contents(source, "text")
        return Code(found.text(), language_of(source) if language is None else check_language(language), name=str(source))
    text = check_str("source", source, "the source as a str, or a file as a Path")
    if language is None:
        raise InputError("language=None: a text does not say its language; give one, such as 'python'")
    return Code(text, check_language(language))


def code_recipe(language: str) -> Recipe:
    """What fingerprints of code in a language are made with."""
    return Recipe(tokenizer=f"code:{check_language(language)}", ngram=NGRAM)


def language_of(path: PurePath) -> str:
    """The language of a file, by the ending of its name."""
    for suffix in (suffix for suffix in reversed(path.suffixes) if suffix not in (".gz", ".zst")):
        for language, endings in LANGUAGES.items():
            if suffix.lower() in endings.split():
                return language
        break
    raise InputError(f"{str(path)!r}: its name does not say its language; name the language, such as 'python'")


def check_language(language: object) -> str:
    """A language as we call it: the first of the names that pygments knows it by."""
    if not isinstance(language, str) or not language.strip():
        raise refuse("language", language, f"give the name of a language, such as {', '.join(list(LANGUAGES)[:5])}")
    if language in LANGUAGES:
        return language
    return str(_lexer(language).aliases[0])


# What recipes know about the tokenizer: ``lookalike.text.segment`` asks here for names that begin with "code:".


def load_tokens(scheme: str, argument: str) -> Tokens:
    return code_tokens(argument)


def load(scheme: str, argument: str) -> Segmenter:
    """Where the tokens stand."""
    tokens = code_tokens(argument)
    return lambda text: [(token.start, token.end) for token in tokens(text)]


def version(scheme: str, argument: str) -> str:
    return f"{REVISION}-{check_language(argument)}-{installed('pygments', 'code')}"


def is_registered(argument: str) -> bool:
    """Whether a language is known: naming one neither imports nor reads anything of somebody else's."""
    return argument in LANGUAGES


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer:
    try:
        from pygments.lexers import get_lexer_by_name
        from pygments.util import ClassNotFound
    except ImportError as error:
        raise MissingExtra.for_extra("source code", "code") from error
    try:
        return get_lexer_by_name(language)
    except (ClassNotFound, ValueError) as error:
        raise UnknownName(
            f"language {language!r:.60} is not known: choose one of {', '.join(LANGUAGES)}, or another of pygments"
        ) from error


def code_tokens(language: str) -> Tokens:
    """The function from source to tokens."""
    named = check_language(language)
    lexer = _lexer(named)

    def tokens(text: str) -> list[Token]:
        found = _without_endings(_joined(_normal(lexer, check_str("text", text))))
        return [token for at, token in enumerate(found) if not _is_doc(text, found, at)] if named == "python" else found

    return tokens


def _is_doc(text: str, tokens: list[Token], at: int) -> bool:
    """Whether a string documents what it stands in, with whatever quotes: pygments knows those with three."""
    token = tokens[at]
    if token.text != _STRING or (at and tokens[at - 1].text != ":"):
        return False
    return at == 0 or "\n" in text[tokens[at - 1].end : token.start].replace("\r", "\n")


def _normal(lexer: Lexer, text: str) -> Iterator[Token]:
    plain, place = _plain(text)
    for start, kind, value in lexer.get_tokens_unprocessed(plain):
        for normal, at, length in _parts(kind, value):
            first, last = start + at, min(start + at + length, len(plain) - 1) - 1  # without the newline that was added
            if first <= last:
                yield Token(normal, place(first), place(last) + 1)


def _plain(text: str) -> tuple[str, Callable[[int], int]]:
    """The text as lexers want it, with newlines alone and one at the end, and from a place in it to one in the text."""
    if "\r\n" not in text:
        return text.replace("\r", "\n") + "\n", lambda at: at
    # A place is behind as many carriage returns as lines that ended before it.
    removed = [found.start() - before for before, found in enumerate(re.finditer("\r\n", text))]
    return text.replace("\r\n", "\n").replace("\r", "\n") + "\n", lambda at: at + bisect_left(removed, at)


def _parts(kind: Any, value: str) -> Iterator[tuple[str, int, int]]:
    """The normal forms in one token of pygments, each with its place and length in it."""
    treatment = _treatment(kind)
    if treatment == "nothing" or value.strip() in ("", "\\"):  # a backslash alone continues a line
        return
    if treatment in (_STRING, _NUMBER):
        yield treatment, 0, len(value)
    elif treatment == "itself":
        for found in _SOLID.finditer(value):  # "is not" is two words
            yield found[0].lower(), found.start(), len(found[0])
    else:
        for found in _WORDS.finditer(value):
            word = found[0]
            is_name = word[0].isalnum() or word[0] == "_"
            yield _NAME if is_name and not (treatment == "directive" and word in _DIRECTIVES) else word, found.start(), len(word)


@lru_cache(maxsize=1024)
def _treatment(kind: Any) -> str:
    """What becomes of a type of token: pygments has a tree of them."""
    from pygments.token import Comment, Keyword, Name, Number, Operator, String, Whitespace

    given = (Keyword, Operator.Word, Name.Builtin, Name.Exception, Name.Function.Magic, Name.Variable.Magic, Comment.PreprocFile)
    if kind in Comment.Preproc:
        return "directive"
    if kind in Name.Builtin.Pseudo:  # self, which can be renamed
        return "words"
    if any(kind in each for each in given):
        return "itself"
    if any(kind in each for each in (Comment, Whitespace, String.Doc)):
        return "nothing"
    return _STRING if kind in String else _NUMBER if kind in Number else "words"


def _joined(tokens: Iterator[Token]) -> Iterator[Token]:
    """Strings in a row as one: quotes, escapes and contents, and literals that follow each other."""
    waiting: Token | None = None
    for token in tokens:
        if token.text == _STRING:
            waiting = token if waiting is None else Token(_STRING, waiting.start, token.end)
            continue
        if waiting is not None:
            yield waiting
            waiting = None
        yield token
    if waiting is not None:
        yield waiting


def _without_endings(tokens: Iterator[Token]) -> list[Token]:
    """Without what formatters add and remove: semicolons, and commas before a closing bracket."""
    found: list[Token] = []
    for token in tokens:
        if token.text in _CLOSING and found and found[-1].text == ",":
            found.pop()
        if token.text != ";":
            found.append(token)
    return found
