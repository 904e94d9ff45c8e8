"""Dates, amounts and identifiers in a text, Chinese and English: the schema of a profile. Patterns of one's own come from a TOML file.

Every built-in pattern is bounded: none of them can take more than linear time. Identifiers that have a check digit are kept
only where it is right.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from lookalike.checks import check_path
from lookalike.errors import InputError
from lookalike.files.processes import find_in_process
from lookalike.io import read_bytes

SECONDS = 5.0  # that a pattern of one's own may take for a text
MOST = 50  # values of each kind, in the order of the text
LONGEST = 200_000  # characters of a text that are looked at
_MONTHS = {
    name: number for number, name in enumerate(["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], 1)
}
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.?"
_CURRENCIES = {
    "¥": "CNY",
    "￥": "CNY",
    "rmb": "CNY",
    "cny": "CNY",
    "人民币": "CNY",
    "$": "USD",
    "us$": "USD",
    "usd": "USD",
    "美元": "USD",
    "hk$": "HKD",
    "hkd": "HKD",
    "港元": "HKD",
    "港币": "HKD",
    "€": "EUR",
    "eur": "EUR",
    "欧元": "EUR",
    "£": "GBP",
    "gbp": "GBP",
    "英镑": "GBP",
}
_DIGITS = (
    {char: number for number, char in enumerate("零一二三四五六七八九")}
    | {char: number for number, char in enumerate("〇壹贰叁肆伍陆柒捌玖")}
    | {"两": 2}
)
_UNITS = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_LARGE = {"万": 10_000, "亿": 100_000_000}
# What may stand between a number and its currency: 1.5万元, 5百万元, $5 million.
_TIMES = _UNITS | _LARGE | {"thousand": 1000, "million": 10**6, "billion": 10**9}
_CHINESE = "零〇一二两三四五六七八九十百千万亿壹贰叁肆伍陆柒捌玖拾佰仟"
_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_CREDIT = "0123456789ABCDEFGHJKLMNPQRTUWXY"

Found = Callable[[re.Match[str]], str | None]


def _date(year: str, month: int | str, day: int | str) -> str | None:
    try:
        found = date(int(year), int(month), int(day))
    except ValueError:  # such as the 30th of February
        return None
    return found.isoformat() if 1000 <= found.year <= 2999 else None


def _named_date(year: str, month: str, day: str) -> str | None:
    return _date(year, _MONTHS[month[:3].lower()], day)


def _sign(found: re.Match[str]) -> str:
    """A minus before an amount."""
    return "-" if found.start() and _MINUS.match(found.string, found.start() - 1) else ""


def _amount(currency: str, sign: str, number: str, unit: str) -> str:
    times = math.prod(_TIMES[part] for part in ([unit.lower()] if unit.isascii() and unit else unit))
    value = float(number.replace(",", "").replace("，", "")) * times
    return f"{_CURRENCIES.get(currency.lower(), 'CNY')} {'-' if sign else ''}{value:.2f}"


def _chinese_amount(found: re.Match[str]) -> str | None:
    value = chinese_number(found[1])
    if value is None:
        return None
    cents = 10 * _DIGITS.get(found[3] or "", 0) + _DIGITS.get(found[4] or "", 0)
    return f"{_CURRENCIES.get(found[2], 'CNY')} {_sign(found)}{value}.{cents:02d}"


def chinese_number(text: str) -> int | None:
    """``三千四百`` is 3400; None for what is no number."""
    total = part = digit = 0
    for char in text:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif char in _UNITS:
            part += (digit or 1) * _UNITS[char]
            digit = 0
        elif char in _LARGE:
            total = (total + part + digit) * _LARGE[char] if char == "亿" else total + (part + digit) * _LARGE[char]
            part = digit = 0
        else:
            return None
    return total + part + digit or None


def _person(number: str) -> str | None:
    """A Chinese identity number, where its check digit is right."""
    number = number.upper()
    check = "10X98765432"[sum(int(digit) * weight for digit, weight in zip(number[:17], _ID_WEIGHTS, strict=True)) % 11]
    return number if check == number[17] else None


def _credit_code(code: str) -> str | None:
    """A unified social credit code of a Chinese organisation."""
    code = code.upper()
    if any(char not in _CREDIT for char in code) or code.isdigit():
        return None
    total = sum(_CREDIT.index(char) * pow(3, place, 31) for place, char in enumerate(code[:17]))
    return code if _CREDIT[(31 - total % 31) % 31] == code[17] else None


def _iban(code: str) -> str | None:
    plain = code.replace(" ", "").upper()
    turned = plain[4:] + plain[:4]
    number = "".join(str(int(char, 36)) for char in turned)
    return plain if 15 <= len(plain) <= 34 and int(number) % 97 == 1 else None


def _number(text: str) -> str | None:
    """What an invoice or a contract is numbered with has a digit."""
    return text.upper() if any(map(str.isdigit, text)) else None


# Before a currency or a number: no dash between two numbers or words, and no mark of a list.
_MINUS = re.compile(r"负|(?<![\w)）\]】%％.,，*/=+~–—−－-])[-−－]")
# All of it: 1e9 is neither 1 nor 9, and of a number with more digits than these nothing is taken.
_SHORT = r"\s?(?i:k|mn?|bn?|tn|trillions?)\b"  # times what, people do not agree on
_NUMBER = (
    rf"(\d{{1,3}}(?:[,，]\d{{3}}){{1,5}}(?:\.\d{{1,6}})?|\d{{1,15}}(?:\.\d{{1,6}})?)"
    rf"(?!\d|[.,，]\d|{_SHORT})"
    r"\s?([十百千]?[万亿]{0,2}|(?i:thousand|million|billion)(?=s?\b))(?!(?!s\b)[A-Za-z])"
)
_NAMED = "美元|欧元|英镑|港元|港币|元"  # currencies behind a number
_NAMED_WORDS = "元 英镑 港币"
_CENTS = "一二三四五六七八九壹贰叁肆伍陆柒捌玖"
_NUMBERED = "发票号码|发票代码|合同编号|合同号|订单号|编号|文号|(?:invoice|contract|order|p\\.?o\\.?)\\s{0,3}(?:no|number|#)"
_LONG_CODE = "\0long"  # stands in what is searched for these words if there is a run of eleven digits or capitals
_CODE_LETTERS = bytes(0x31 if chr(byte) in "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ" else 0x20 for byte in range(256))


class _Rule(NamedTuple):
    """What a pattern finds, and what a match is worth."""

    name: str
    pattern: re.Pattern[str]
    make: Found
    needs: tuple[str, ...] = ()  # lower-case words of which a text must have one: looking for these is much faster
    begins: tuple[str, ...] = ()  # lower-case words with one of which each match begins: it is looked for nowhere else

    def matches(self, text: str, lower: str) -> Iterator[re.Match[str]]:
        if not self.begins or len(lower) != len(text):  # a few letters are two in lower case
            yield from self.pattern.finditer(text)
            return
        done = 0
        for place in sorted(place for word in self.begins for place in _places(word, lower)):
            if place >= done and (found := self.pattern.match(text, place)):
                done = found.end()
                yield found


def _places(word: str, text: str) -> Iterator[int]:
    """Where a word stands: many times faster than asking a pattern of several."""
    place = text.find(word)
    while place >= 0:
        yield place
        place = text.find(word, place + 1)


def _rule(name: str, pattern: str, make: Found, needs: str = "", begins: str = "") -> _Rule:
    return _Rule(name, re.compile(pattern), make, tuple(needs.split()), tuple(begins.split()))


_MONTH_NAMES = " ".join(_MONTHS)
_RULES = (
    _rule("dates", r"(?<!\d)(\d{4})\s?[-/.年]\s?(\d{1,2})\s?[-/.月]\s?(\d{1,2})(?!\d)", lambda found: _date(*found.groups()), "- / . 年"),
    _rule(
        "dates",
        rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+({_MONTH}),?\s+(\d{{4}})\b",
        lambda found: _named_date(found[3], found[2], found[1]),
        _MONTH_NAMES,
    ),
    _rule(
        "dates",
        rf"\b({_MONTH})\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}})\b",
        lambda found: _named_date(found[3], found[1], found[2]),
        _MONTH_NAMES,
    ),
    _rule(
        "amounts",
        rf"(?i:(人民币|(?<![A-Za-z])(?:RMB|CNY|USD|US\$|HK\$|HKD|EUR|GBP|\$)|[¥￥€£]))\s?([-−－负](?=\d))?{_NUMBER}",
        lambda found: _amount(found[1], found[2] or _sign(found), found[3], found[4]),
        "人民币 rmb cny usd hkd eur gbp ¥ ￥ $ € £",
    ),
    _rule(
        "amounts",
        rf"(?<![\dA-Za-z.,，¥￥$€£]){_NUMBER}\s?({_NAMED})",
        lambda found: _amount(found[3], _sign(found), found[1], found[2]),
        _NAMED_WORDS,
    ),
    _rule(
        "amounts",
        rf"(?<![\d.{_CHINESE}])([{_CHINESE}]{{2,30}})({_NAMED}|圆)(?:零?([{_CENTS}])角)?(?:零?([{_CENTS}])分)?",
        _chinese_amount,
        f"{_NAMED_WORDS} 圆",
    ),
    _rule("emails", r"\b[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,5}\b", lambda found: found[0].lower(), "@"),
    _rule(
        "phones",
        r"(?:(?<!\d)|(?<=\+86)|(?<=(?<!\d)86))(1[3-9]\d)([- ]?)(\d{4})\2(\d{4})(?!\d)",
        lambda found: found[1] + found[3] + found[4],
        begins="13 14 15 16 17 18 19",
    ),
    _rule("persons", r"(?<![0-9A-Za-z])(\d{17}[\dXx])(?![0-9A-Za-z])", lambda found: _person(found[1]), _LONG_CODE),
    _rule("organisations", r"(?<![0-9A-Za-z])([0-9A-HJ-NPQRTUWXY]{18})(?![0-9A-Za-z])", lambda found: _credit_code(found[1]), _LONG_CODE),
    # A word begins with its first capital: asked after that capital, only capitals are looked at.
    _rule("accounts", r"([A-Z](?<!\w[A-Z])[A-Z]\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?)\b", lambda found: _iban(found[1])),
    _rule(
        "numbers",
        rf"(?i:{_NUMBERED})\.?\s{{0,3}}[:：]?\s{{0,3}}([A-Za-z0-9][A-Za-z0-9/_-]{{2,40}})",
        lambda found: _number(found[1]),
        "发票 合同 订单 编号 文号 invoice contract order po p.o",
        "发票号码 发票代码 合同编号 合同号 订单号 编号 文号 invoice contract order po p.o",
    ),
)
_NEEDS = {rule.needs for rule in _RULES}
_NOT_TELLING = re.compile(r"^[^\d@元圆镑币\n]*+$", re.MULTILINE)  # a line without a number, or what else the rules ask for
_FOLLOWING = 60  # characters of the next line that may belong to it


def extracted(text: str, own: Mapping[str, re.Pattern[str]] | None = None, most: int = LONGEST) -> dict[str, list[str]]:
    """The values of each kind that a text has, each once, in its order; kinds without any are left out."""
    found: dict[str, dict[str, None]] = {}
    for name, value in _values(text[:most], own or {}):
        values = found.setdefault(name, {})
        if len(values) < MOST:
            values[value] = None
    return {name: list(values) for name, values in found.items()}


def _values(text: str, own: Mapping[str, re.Pattern[str]]) -> Iterator[tuple[str, str]]:
    worth = "\n".join(_worth(text))  # most lines of most texts have no number
    lower = worth.lower()
    words = lower + (_LONG_CODE if _has_long_code(worth) else "")
    had = {needs: not needs or any(map(words.__contains__, needs)) for needs in _NEEDS}
    for rule in _RULES:
        if not had[rule.needs]:
            continue
        for match in rule.matches(worth, lower):
            if value := rule.make(match):
                yield rule.name, value
    for name, pattern in own.items():
        found = find_in_process(pattern, text, SECONDS)
        if found is None:
            said = f"patterns: {name!r:.60} takes longer than {SECONDS:g} seconds for one text"
            raise InputError(f"{said}: write it without repeats in repeats, such as (a+)+")
        for value in found:
            yield name, value


def _has_long_code(text: str) -> bool:
    """Whether there are eleven digits or capitals in a row: bytes are turned into two kinds at once, where a pattern looks at each."""
    return b"1" * 11 in text.encode("utf-8", "replace").translate(_CODE_LETTERS)


def _worth(text: str) -> Iterator[str]:
    """The lines that may hold something, and how the lines after them begin."""
    begin = 0
    for line in _NOT_TELLING.finditer(text):
        start, end = line.span()
        if begin < start:  # lines that tell something, up to the end of the last of them
            yield text[begin : start - 1]
            yield text[start : min(end, start + _FOLLOWING)]
        begin = end + 1
    if begin <= len(text):
        yield text[begin:]


def read_patterns(source: str | Path | Mapping[str, Any] | None) -> dict[str, re.Pattern[str]]:
    """Patterns of one's own, from a TOML file with a table ``patterns``, or from a mapping of names to regular expressions."""
    if source is None:
        return {}
    name = "patterns"
    if not isinstance(source, Mapping):
        path = check_path("patterns", source)
        name = str(path)
        try:
            loaded = tomllib.loads(read_bytes(path).decode())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(f"{name}: not TOML ({error})") from error
        given = loaded.get("patterns")
        if not isinstance(given, Mapping):
            raise InputError(f"{name}: no table [patterns]; write a line for each pattern there, such as order = 'PO-\\d{{6}}'")
        source = given
    found = {}
    for key, expression in source.items():
        if not isinstance(key, str) or not isinstance(expression, str):
            raise InputError(f"{name}: pattern {key!r:.60} is a {type(expression).__name__}: give a regular expression as a str")
        try:
            found[key] = re.compile(expression)
        except (re.error, RecursionError, OverflowError) as error:
            raise InputError(f"{name}: pattern {key!r:.60} is no regular expression ({error})") from error
    return found
