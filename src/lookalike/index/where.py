"""Filters on what is kept beside texts: one small grammar, the same for all stores, for Python, the command line and JSON.

    {"site": "a.com", "day": {">=": "2026-10-16"}}          site = a.com and day >= 2026-10-16
    {"or": [{"lang": {"in": ["de", "fr"]}}, {"not": {"author": {"exists": True}}}]}
                                                             lang in (de, fr) or not exists author

A field is a name of ``meta``; ``author.name`` is the name within the author, unless there is a field that is called so. Operators are
``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=``, ``in``, ``has`` (of a list) and ``exists``. Numbers are compared with numbers and texts with
texts, by code points; other pairs are neither equal nor in any order. A missing field is like nothing. ``!=`` is the opposite of ``==``.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from lookalike.checks import is_number
from lookalike.errors import InputError
from lookalike.stores.fields import MISSING, field_of

Meta = Mapping[str, Any]
ORDERS: dict[str, Callable[[Any, Any], bool]] = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
OPERATORS = ("==", "!=", *ORDERS, "in", "has", "exists")
DEEPEST = 40
_TOKEN = re.compile(r'\s*(?:(?P<text>"(?:[^"\\]|\\.)*"|\'[^\']*\')|(?P<sign>==|!=|<=|>=|[=<>(),])|(?P<word>[^\s"\'=<>!(),]+))')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


class Compared(NamedTuple):
    """One field, compared with one value, or with several where one must be equal."""

    name: str
    sign: str
    value: Any

    def __call__(self, meta: Meta) -> bool:
        found, sign, value = field_of(meta, self.name), self.sign, self.value
        if sign == "exists":
            return (found is not MISSING) is value
        if sign == "in":
            return any(_equal(found, each) for each in value)
        if sign == "has":
            return isinstance(found, list) and any(_equal(each, value) for each in found)
        if sign in ("==", "!="):
            return _equal(found, value) is (sign == "==")
        return _one_kind(found, value) and ORDERS[sign](found, value)


class Both(NamedTuple):
    parts: Sequence[Filter]

    def __call__(self, meta: Meta) -> bool:
        return all(part(meta) for part in self.parts)


class Either(NamedTuple):
    parts: Sequence[Filter]

    def __call__(self, meta: Meta) -> bool:
        return any(part(meta) for part in self.parts)


class Not(NamedTuple):
    part: Filter

    def __call__(self, meta: Meta) -> bool:
        return not self.part(meta)


Filter = Compared | Both | Either | Not


def parse_where(where: object) -> Filter:
    """Whether a document's meta fits, as a function of it."""
    if isinstance(where, str):
        text = where.strip()
        if text.startswith("{"):
            try:
                where = json.loads(text)
            except (ValueError, RecursionError) as error:
                raise InputError(f"where={where!r:.80}: it begins like JSON and is none ({error})") from error
        else:
            return _Expression(text).parsed()
    return _fitting(where, 0)


def _fitting(where: object, depth: int) -> Filter:
    if not isinstance(where, Mapping):
        raise InputError(
            f"where is a {type(where).__name__}: give fields and values, such as {{'site': 'a.com', 'day': {{'>=': '2026-10-16'}}}}"
        )
    if depth > DEEPEST:
        raise InputError(f"where: more than {DEEPEST} conditions lie within each other")
    return _both([_condition(name, value, depth) for name, value in where.items()])


def _condition(name: object, value: Any, depth: int) -> Filter:
    if not isinstance(name, str):
        raise InputError(f"where: {name!r:.60} is no name of a field: give a str")
    if name in ("and", "or") and isinstance(value, list | tuple):
        parts = [_fitting(each, depth + 1) for each in value]
        return _both(parts) if name == "and" else Either(parts)
    if name == "not" and isinstance(value, Mapping):
        return Not(_fitting(value, depth + 1))
    if isinstance(value, Mapping):
        if not value:
            raise InputError(f"where: {name!r} has no condition: give a value, or one of {', '.join(OPERATORS)}")
        return _both([_comparison(name, sign, other) for sign, other in value.items()])
    return _comparison(name, "==", value)


def _comparison(name: str, sign: object, value: Any) -> Filter:
    if sign not in OPERATORS:
        raise InputError(f"where: {name!r} {sign!r:.60}: choose one of {', '.join(OPERATORS)}")
    if sign == "exists":
        if not isinstance(value, bool):
            raise InputError(f"where: {name!r} exists: give True or False, not {value!r:.60}")
        return Compared(name, "exists", value)
    if sign == "in":
        if isinstance(value, str) or not isinstance(value, Sequence | set | frozenset):
            raise InputError(f"where: {name!r} in {value!r:.60}: give a list of values")
        return Compared(name, "in", [_value(name, each) for each in value])
    given = _value(name, value)
    if sign in ORDERS and not (isinstance(given, str) or is_number(given)):
        raise InputError(f"where: {name!r} {sign} {value!r:.60}: only numbers and texts have an order")
    return Compared(name, str(sign), given)


def _value(name: str, value: Any) -> Any:
    """A value as JSON has it."""
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"where: {name!r}: {value!r:.60} is no value that meta can have ({error})") from error


def _one_kind(one: Any, other: Any) -> bool:
    """Whether both are texts, or both are numbers, as which true and false do not count."""
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and isinstance(other, str)
    return all(is_number(each) for each in (one, other))


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(value, other[key]) for key, value in one.items())
    return (type(one) is type(other) and one == other) or (_one_kind(one, other) and one == other)


def _both(parts: Sequence[Filter]) -> Filter:
    return parts[0] if len(parts) == 1 else Both(parts)


class _Expression:
    """``site = a.com and (day >= 2026-10-16 or not exists day)``: "and" binds closer than "or", and "not" closer than both."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(self._split())
        self._at = self._depth = 0

    def _split(self) -> Iterator[tuple[str, str]]:
        at = 0
        while at < len(self._text):
            found = _TOKEN.match(self._text, at)
            if found is None or found.lastgroup is None:
                raise self._wrong(f"cannot read {self._text[at : at + 20]!r}")
            yield found.lastgroup, found[found.lastgroup]
            at = found.end()

    def _wrong(self, what: str) -> InputError:
        return InputError(f"where={self._text!r:.100}: {what}; write for example: site = a.com and day >= 2026-10-16")

    def parsed(self) -> Filter:
        if not self._tokens:
            raise self._wrong("there is no condition")
        found = self._either()
        if self._at < len(self._tokens):
            raise self._wrong(f"{self._tokens[self._at][1]!r:.40} is not expected there")
        return found

    def _next(self, *words: str) -> bool:
        """Whether the next token is one of these words or signs; then it is taken."""
        if self._at < len(self._tokens) and self._tokens[self._at][0] != "text" and self._tokens[self._at][1].lower() in words:
            self._at += 1
            return True
        return False

    def _take(self, what: str, *groups: str) -> tuple[str, str]:
        if self._at >= len(self._tokens) or self._tokens[self._at][0] not in groups:
            raise self._wrong(
                f"{what} is missing" + ("" if self._at >= len(self._tokens) else f" before {self._tokens[self._at][1]!r:.40}")
            )
        self._at += 1
        return self._tokens[self._at - 1]

    def _either(self) -> Filter:
        parts = [self._both()]
        while self._next("or"):
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else Either(parts)

    def _both(self) -> Filter:
        parts = [self._single()]
        while self._next("and"):
            parts.append(self._single())
        return _both(parts)

    def _single(self) -> Filter:
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._wrong(f"more than {DEEPEST} conditions lie within each other")
        try:
            if self._next("not"):
                return Not(self._single())
            if self._next("("):
                inner = self._either()
                if not self._next(")"):
                    raise self._wrong("a bracket is not closed")
                return inner
            if self._next("exists"):
                return _comparison(self._name(), "exists", True)
            return self._compared()
        finally:
            self._depth -= 1

    def _name(self) -> str:
        group, name = self._take("the name of a field", "word", "text")
        return str(_text(name)) if group == "text" else name

    def _compared(self) -> Filter:
        name = self._name()
        if self._next("in"):
            if not self._next("("):
                raise self._wrong("values are to stand in brackets after 'in'")
            values = [self._constant()]
            while self._next(","):
                values.append(self._constant())
            if not self._next(")"):
                raise self._wrong("a bracket is not closed")
            return _comparison(name, "in", values)
        if self._next("has"):
            return _comparison(name, "has", self._constant())
        _, sign = self._take(f"a comparison (=, !=, {', '.join(ORDERS)}, in or has) behind {name!r}", "sign")
        return _comparison(name, "==" if sign == "=" else sign, self._constant())

    def _constant(self) -> Any:
        group, value = self._take("a value", "word", "text")
        if group == "text":
            return _text(value)
        if value in ("true", "false", "null") or _NUMBER.fullmatch(value):
            try:
                return json.loads(value)
            except ValueError as error:
                raise self._wrong(f"{value[:20]}… has too many digits") from error
        return value


def _text(quoted: str) -> str:
    if quoted[0] == "'":
        return quoted[1:-1]
    try:
        return str(json.loads(quoted))
    except ValueError as error:
        raise InputError(f"where: {quoted!r:.60} is no text in quotes ({error})") from error
