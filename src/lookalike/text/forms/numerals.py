"""Chinese numerals as digits: 三百二十 and 320, 二〇二四 and 2024, 3万 and 30000, １，０００ and 1000, 三点一四 and 3.14, 百分之五 and 5%,
三分之一 and 1/3, 负五 and -5.

Only what is a number by the rules of writing numbers is changed. A unit alone stays (百姓, 万一), and so does what is no number
(三三两两十).
Both sides of a comparison are treated alike, so that 一起 and 一起 stay equal; what falls together is 一起 and 1起.
"""

from __future__ import annotations

import re

from lookalike.text.forms.rewriting import Step, replaced

_DIGITS = {
    **{character: value for value, character in enumerate("零一二三四五六七八九")},
    **{character: value for value, character in enumerate("〇壹贰叁肆伍陆柒捌玖")},
    "两": 2,
    "兩": 2,
    "貳": 2,
    "叄": 3,
    "陸": 6,
    "○": 0,
}
_TENS = {"廿": "二十", "卅": "三十"}
_ALONE = frozenset("零〇一二三四五六七八九十两兩")  # the others alone are names and words: 陆, 伍
_SMALL = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_LARGE = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
CHINESE = re.escape("".join([*_DIGITS, *_TENS, *_SMALL, *_LARGE]))
_LIANG = re.compile("(?<!^)[两兩](?![百佰千仟万萬亿億])|^[两兩](?=[^百佰千仟万萬亿億])")  # 两 is two before a unit; 十两 is a weight
_MOST = 32  # characters of a number: longer ones are data
_FIGURES = "".join(_DIGITS)
_SEPARATORS = ",，'’\u00a0\u2009\u202f\u066c"  # of thousands; an ordinary space separates numbers too
# Digits of scripts that were in Unicode long ago: Latin, full width, Arabic, Persian, nine of India, Thai, Lao, Tibetan, Burmese, Khmer.
_ZEROS = "0０٠۰०০੦૦୦௦౦೦൦๐໐༠၀០"
_DIGIT = f"[{''.join(f'{zero}-{chr(ord(zero) + 9)}' for zero in _ZEROS)}]"
_UNIT = "[百千]?[万萬]?[亿億]?"
_NUMBER = re.compile(
    rf"(?P<digits>{_DIGIT}{{1,15}}(?:[{_SEPARATORS}]{_DIGIT}{{3}}(?!{_DIGIT}))*)(?P<part>[.\u066b]{_DIGIT}{{1,8}})?(?P<unit>{_UNIT})"
    # 三点五, but not 三点五分, which is a time, nor 一点一滴
    rf"|(?P<whole>[{CHINESE}]+)[点點](?P<decimals>[{_FIGURES}]{{1,8}})(?![分刻滴点點{_FIGURES}{''.join(_SMALL)}])(?P<times>[万萬]?[亿億]?)"
    rf"|[{CHINESE}]+"
)
# What stands around numbers, once these are digits: 百分之, 三分之, 负.
_SHARE = re.compile(r"(?P<of>百|千|[1-9][0-9]{0,15})分之(?P<part>[0-9]{1,15}(?:\.[0-9]{1,8})?)")
_NEGATIVE = re.compile("(?<![胜勝欺抱肩自])[负負](?=[0-9])")


def numerals(text: str) -> Step | None:
    return replaced(_NUMBER, text, _as_digits)


def shares(text: str) -> Step | None:
    """Percent and fractions. After ``numerals``."""
    return replaced(_SHARE, text, _as_share) if "分之" in text else None


def _as_share(match: re.Match[str]) -> str:
    signs = {"百": "%", "100": "%", "千": "‰", "1000": "‰"}
    return match["part"] + signs.get(match["of"], f"/{match['of']}")


def signs(text: str) -> Step | None:
    """Negative numbers. After ``numerals``."""
    return replaced(_NEGATIVE, text, lambda _: "-")


def _as_digits(match: re.Match[str]) -> str | None:
    if match["whole"] is not None:
        whole = _chinese(match["whole"])
        return None if whole is None else _multiplied(whole, "." + _figures(match["decimals"]), match["times"])
    if match["digits"] is None:
        return _chinese(match[0])
    return _multiplied(_latin(match["digits"]), f".{_latin(match['part'][1:])}" if match["part"] else "", match["unit"])


def _latin(digits: str) -> str:
    """Digits without separators: int() reads those of every script."""
    return "".join(str(int(digit)) for digit in digits if digit not in _SEPARATORS)


def _multiplied(digits: str, part: str, unit: str) -> str | None:
    """A number with its decimals, times a unit; None if it would still have decimals."""
    if not unit:
        return digits + part
    factor = 1
    for character in unit:
        factor *= _SMALL.get(character) or _LARGE[character]
    zeros = len(str(factor)) - 1
    decimals = part[1:].rstrip("0")
    if len(decimals) > zeros or (digits.startswith("0") and digits != "0"):
        return None
    return (digits + decimals + "0" * (zeros - len(decimals))).lstrip("0") or "0"


def _figures(text: str) -> str:
    return "".join(str(_DIGITS[character]) for character in text)


def _chinese(text: str) -> str | None:
    if len(text) > _MOST or (len(text) == 1 and text not in _ALONE) or _LIANG.search(text):
        return None
    if all(character in _DIGITS for character in text):
        return _figures(text)
    value = _value("".join(_TENS.get(character, character) for character in text))
    return None if value is None else str(value)


def _value(text: str) -> int | None:
    """A number with units; None if it is none, or units alone other than ten."""
    if not any(character in _DIGITS for character in text) and text[:1] not in ("十", "拾"):
        return None
    for unit in ("亿億", "万萬"):
        place = max(text.rfind(character) for character in unit)
        if place >= 0:
            head, tail = _value(text[:place]), _rest(text[place + 1 :], _LARGE[text[place]])
            return None if head is None or tail is None else head * _LARGE[text[place]] + tail
    return _below_ten_thousand(text)


def _rest(text: str, unit: int) -> int | None:
    """What follows a unit: nothing, a smaller number, or a single digit of the next unit (三万五)."""
    if not text:
        return 0
    if len(text) == 1 and _DIGITS.get(text):
        return _DIGITS[text] * (unit // 10)
    return value if (value := _value(text.lstrip("零〇○"))) is not None and value < unit else None


def _below_ten_thousand(text: str) -> int | None:
    total, last, digit = 0, 10_000, None
    was_zero = False
    for place, character in enumerate(text):
        if character in _SMALL:
            unit = _SMALL[character]
            if unit >= last or (digit is None and not (unit == 10 and (place == 0 or was_zero))) or digit == 0:
                return None
            total, last, digit, was_zero = total + (1 if digit is None else digit) * unit, unit, None, False
        elif digit is not None:
            return None  # two digits in a row
        elif _DIGITS[character] == 0:
            if was_zero or place == 0:
                return None
            was_zero = True
        else:
            digit = _DIGITS[character]
    if digit is None:
        return None if was_zero else total
    return total + digit * (last // 10 if len(text) > 1 and not was_zero and last < 10_000 else 1)
