"""Other numbers: in digits, in Chinese numerals, in English words; and other dates.

One and first, 一 and 十 are often no numbers (one of them, first of all, 一起, 十分). Such *loose* numbers count only where the other text
has a number too that this one lacks: the one in whose place it stands. So do months and days of the week.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from lookalike.comparison.doubts.dates import DATES, date_named
from lookalike.comparison.doubts.saying import Doubt, Said, listed, one_sided
from lookalike.text.forms import without_form
from lookalike.text.forms.numerals import CHINESE
from lookalike.text.forms.script import one_script

_CARDINALS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_VALUES = {word: value for value, word in enumerate(_CARDINALS.split())} | {word: 10 * ten for ten, word in enumerate(_TENS.split(), 2)}
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_LOOSE_WORDS = {word: str(value) for value, word in enumerate(_ORDINALS.split(), 1)} | {
    "one": "1",
    "half": "0.5",
    "once": "1",
    "twice": "2",
}
_VALUE, _SCALE = "|".join(_VALUES), "|".join(_SCALES)
_WORDS = re.compile(
    rf"\b(?:{_VALUE}|(?<!\d )(?:{_SCALE}))(?:(?:[ -]|[ -]and )(?:{_VALUE}|{_SCALE}))*\b|\b(?:{'|'.join(_LOOSE_WORDS)})\b", re.IGNORECASE
)
_NUMBER = re.compile(rf"(?P<sign>(?<![\w.)])[-−])?(?P<value>\d+(?:\.\d+)?)(?: (?P<scale>{_SCALE})\b)?", re.IGNORECASE)
# Numbers with nothing but a mark between them, whose order says something: 3:1, 5-10, 2024-01-05.
_ROW = re.compile(r"(?<![\d.])\d+(?:(?:[-–—~:/]\d+)+|(?:\.\d+){2,})(?![\d.])")
_DOTTED_DATE = re.compile(r"(?<![\d.])(?:\d{4}\.\d{1,2}\.\d{1,2}|\d{1,2}\.\d{1,2}\.\d{4})(?![\d.])")
# Words in which a single Chinese numeral is no number at all.
_NO_NUMBER = (
    "一起|一直|一定|一样|一般|一些|一切|一旦|一边|一面|一下|一共|一向|一律|一致|一心|统一|唯一|万一"
    "|四处|四周|四川|三亚|三星|三明治|八卦|九江|七夕|十分(?!钟)"
)
_SINGLE = (
    f"(?P<none>{_NO_NUMBER})|(?<![{CHINESE}0-9])(?<![{CHINESE}]点)(?P<ordinal>第)?(?P<digit>[一二三四五六七八九十两])(?!点?[{CHINESE}]|[0-9])"
    "(?P<unit>[个位名只条张件本台辆次年月日号天周时点分秒元块角斤米吨岁层楼届期章节页部集回遍倍成人家国省市县级种类项款双对套间座]|公里|小时|星期)?"
)


class SaidNumbers(NamedTuple):
    firm: Counter[str]
    loose: Counter[str]
    dates: dict[str, str]  # the values of months and days, and how the text writes them

    def all(self) -> Counter[str]:
        return self.firm + self.loose


def numbers(left: Said, right: Said) -> Doubt | None:
    here, there = numbers_of(left.text), numbers_of(right.text)
    only = [here.all() - there.all(), there.all() - here.all()]
    if not all(only):
        only = [here.firm - there.all(), there.firm - here.all()]
    shown = [[side.dates.get(value, value) for value in values.elements()] for side, values in zip((here, there), only, strict=True)]
    are_dates = all(value in side.dates for side, values in zip((here, there), only, strict=True) for value in values)
    return one_sided("dates differ" if are_dates else "numbers differ", *shown) or _reordered(left.text, right.text)


def _reordered(left: str, right: str) -> Doubt | None:
    """Rows of the same numbers in another order; but a year first and a year last are two ways to write a date."""
    for here, there, is_date in _permuted_rows(left, right):
        if not is_date:
            return Doubt(f"numbers in another order: {listed([here, there])}")
    return None


def dates_written_otherwise(left: str, right: str) -> set[str]:
    """The numbers of dates that one text writes with the year first and the other with the year last."""
    return {part for here, _, is_date in _permuted_rows(left, right) if is_date for part in re.split(r"\D", here)}


def _permuted_rows(left: str, right: str) -> Iterator[tuple[str, str, bool]]:
    """Rows of the same numbers in another order, one of each text, and whether they may be one date."""
    rows = [[match[0] for match in _ROW.finditer(without_form(text, ["width"]))] for text in (left, right)]
    others = [row for row in rows[1] if row not in rows[0]]
    for here in rows[0]:
        for there in others if here not in rows[1] else ():
            values = [[part.lstrip("0") for part in re.split(r"\D", row)] for row in (here, there)]
            if values[0] != values[1] and sorted(values[0]) == sorted(values[1]):
                yield here, there, _may_be_one_date(values, "/" in here + there)


def _may_be_one_date(values: list[list[str]], with_strokes: bool) -> bool:
    """The year first in one of them and last in the other, and the rest backwards; in 1/5/2024 the month may come first as well."""
    for first, last in (values, values[::-1]):
        if len(first) == 3 and len(first[0]) == len(last[-1]) == 4:
            return last == first[::-1] or (with_strokes and last == [*first[1:], first[0]])
    return False


def numbers_of(text: str) -> SaidNumbers:
    """The numbers in a text, each written the same however the text writes it."""
    found = SaidNumbers(Counter(), Counter(), {})
    text = DATES.sub(lambda match: _date(match[0], found), without_form(text, ["width"]))
    text = _single_numerals().sub(lambda match: _single(match, found), one_script(text) or text)
    text = _WORDS.sub(lambda match: _in_words(match[0].lower(), found), text)
    text = _DOTTED_DATE.sub(lambda match: match[0].replace(".", " "), without_form(text, ["numerals"]))
    for match in _NUMBER.finditer(text):
        found.firm[("-" if match["sign"] else "") + _value(match["value"], match["scale"])] += 1
    return found


def _value(written: str, scale: str | None) -> str:
    if scale:
        return f"{round(float(written) * _SCALES[scale.lower()], 6):.15g}"
    if "." in written:
        return written.rstrip("0").rstrip(".")
    return written[1:] if len(written) == 2 and written[0] == "0" else written  # 05 of a date or a time; 007 is a name


def _date(said: str, found: SaidNumbers) -> str:
    """The name of a month or a day: counted here, and taken out of the text."""
    value = date_named(said)
    found.loose[value] += 1
    found.dates.setdefault(value, said)
    return "#" * len(said)


@cache
def _single_numerals() -> re.Pattern[str]:
    return re.compile(one_script(_SINGLE) or _SINGLE)


def _single(match: re.Match[str], found: SaidNumbers) -> str:
    """A numeral of one character: counted here, and taken out of the text unless it is firm."""
    if match["none"]:
        return "#" * len(match[0])
    is_firm = match["ordinal"] or (match["unit"] and match["digit"] not in "一十")
    (found.firm if is_firm else found.loose)[without_form(match["digit"], ["numerals"])] += 1
    return "#" * len(match[0])


def _in_words(said: str, found: SaidNumbers) -> str:
    """A number in English words as digits; loose ones are counted here, and taken out of the text."""
    if said in _LOOSE_WORDS:
        found.loose[_LOOSE_WORDS[said]] += 1
        return "#"
    return " ".join(str(value) for value in _values(re.split(r"[ -]", said)))


def _values(words: list[str]) -> Iterator[int]:
    """The numbers that words in a row are: one for ``twenty five thousand``, two for ``two three``."""
    total, current = 0, None
    for word in words:
        if word in _SCALES:
            scale = _SCALES[word]
            if scale == 100:
                current = (current or 1) * 100
            else:
                total, current = total + (current or 1) * scale, 0
        elif word in _VALUES:
            value = _VALUES[word]
            if current is not None and not _may_follow(value, current):
                yield total + current
                total, current = 0, None
            current = (current or 0) + value
    if current is not None:
        yield total + current


def _may_follow(value: int, current: int) -> bool:
    """Whether a number can be added to what was said before: five to twenty and to a hundred, not to two."""
    return current % 100 == 0 or (current % 10 == 0 and current % 100 >= 20 and 0 < value < 10)
