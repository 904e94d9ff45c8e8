"""A "not" more in one text than in the other, in English and Chinese."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache

from lookalike.comparison.doubts.saying import Doubt, Said, one_sided
from lookalike.text.forms.script import one_script

_NEGATING_WORDS = "not no never none nobody nothing nowhere neither nor without non cannot hardly barely scarcely seldom rarely minus"
_WORDS_BEFORE_T = "don doesn didn isn wasn weren aren won can couldn shouldn wouldn hasn haven hadn mustn needn ain n"  # don't, do n't
# They begin with letters that negate in other words.
_WORDS_WITHOUT_PREFIX = """
    into inside income input inform install increase invest intend intense intent insight intake indoor inland import impress impose improve
    imply impact impart illustrate discover display dispatch dispose distill discharge discount discourse dismiss under until unless united
    union unit
"""
_NEGATING = frozenset(_NEGATING_WORDS.split())
_BEFORE_T = frozenset(_WORDS_BEFORE_T.split())
_WITHOUT_APOSTROPHE = frozenset(f"{word}t" for word in _BEFORE_T - {"n"})
_PREFIXES = ("un", "in", "im", "il", "ir", "dis", "non")
_WITHOUT_PREFIX = frozenset(_WORDS_WITHOUT_PREFIX.split())
_LEAST_WORD = 3  # letters that must follow a prefix

# What negates in Chinese; but first words that have one of these characters and do not negate, and questions such as 是不是.
_CHINESE = (
    "(?P<question>[\u4e00-\u9fff])[不没沒](?P=question)|了没有?(?!\\w)|[不没](?=[?？]|$)|没有(?=[?？])|无缘无故|不客气"
    "|不得不|不能不|不可不|不会不|差不多|对不起|不好意思|了不起|只不过|不一会|不但|不仅|不过|不管|不断|不少|不错|不如|不论|不只|不止|不单|不光|不久|不时|不禁|不免"
    "|不愧|不妨|不然|不由|不料|没关系|没事|没准|无论|无线|无数|无锡|无比|无疑|无非|未来|未免"
    "|特别|区别|分别|级别|性别|差别|告别|别人|别的|别墅|个别|识别|辨别|鉴别|类别|离别|判别|送别|别致|别名|别针|别克|派别|国别"
    "|非常|非洲|(?<=[辨分明论惹搬])是非|是非(?=[之曲黑观不吗呢吧的了和与]|\\W|$)|除非|莫非|南非|中非|北非|东非|西非|是否|否则|能否|可否|会否|与否"
    "|(?P<negating>并非|绝非|禁止|严禁|拒绝|谢绝|反对|否认|否定|切莫|莫要|请莫|莫再|休想|休要|从未|尚未|未|[不没无勿甭毋别非])"
)


def negations(left: Said, right: Said) -> Doubt | None:
    found = [[*_words(side, other), *_ideographs(side)] for side, other in ((left, right), (right, left))]
    if len(found[0]) == len(found[1]):
        return None
    only = [[*(Counter(here) - Counter(there)).elements()] for here, there in (found, reversed(found))]
    return one_sided("one text negates", *only)


def _words(side: Said, other: Said) -> Iterator[str]:
    words = side.words
    for before, word, after in zip(["", *words], words, [*words[1:], ""], strict=False):
        if word == "t" and before in _BEFORE_T:
            yield f"{before}'t"
        elif word in _WITHOUT_APOSTROPHE or _negates(word, after) or _is_opposite(word, side, other):
            yield word


def _negates(word: str, after: str) -> bool:
    """Not where it is part of ``not only``, or the short form of a number: ``No. 5``."""
    return word in _NEGATING and not (word == "not" and after == "only") and not (word == "no" and after[:1].isdigit())


def _is_opposite(word: str, side: Said, other: Said) -> bool:
    """Whether a word is another one of the other text with a prefix that negates, or without what that one is full of."""
    if word in other.counts or word in _WITHOUT_PREFIX or not word.isascii():
        return False
    bases = (word.removeprefix(prefix) for prefix in _PREFIXES if word.startswith(prefix) and len(word) >= len(prefix) + _LEAST_WORD)
    opposites = [*bases, *([f"{word[:-4]}ful"] if word.endswith("less") else [])]
    return any(opposite in other.counts and opposite not in side.counts for opposite in opposites)


def _ideographs(side: Said) -> Iterator[str]:
    text = one_script(side.text) or side.text
    yield from (side.written(*match.span()) for match in _chinese().finditer(text) if match["negating"])


@cache
def _chinese() -> re.Pattern[str]:
    return re.compile(one_script(_CHINESE) or _CHINESE)
