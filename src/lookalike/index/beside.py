"""What is kept beside a text: when a document expires."""

from __future__ import annotations

import json
import re
import time
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from lookalike.checks import is_number
from lookalike.errors import InputError
from lookalike.stores.fields import MISSING, field_of
from lookalike.stores.given import Given
from lookalike.stores.ids import Id

FARTHEST = 1 << 62  # milliseconds
_LIKE_A_TIME = re.compile(r"[\d\s.:/+TZ-]*\d[\d\s.:/+TZ-]*")  # a date of another order, or one that no calendar has: no name of a field


class Expiry(NamedTuple):
    """When documents expire: all at a time, each at the time that a field of its meta names, or never."""

    at: int | None = None  # milliseconds since 1970
    field: str | None = None

    @classmethod
    def asked(cls, ttl: object, expires: object) -> Expiry:
        if ttl is not None and expires is not None:
            raise InputError("ttl and expires both say when documents expire: give one of them")
        if ttl is not None:
            seconds = ttl.total_seconds() if isinstance(ttl, timedelta) else ttl
            if not is_number(seconds) or not 0 < seconds < FARTHEST // 1000:
                raise InputError(f"ttl={ttl!r:.60}: give seconds, more than 0, or a timedelta")
            return cls(round((time.time() + seconds) * 1000))
        if isinstance(expires, str) and expires and moment(expires) is None and not _LIKE_A_TIME.fullmatch(expires):
            return cls(field=expires)
        if expires is not None:
            at = moment(expires)
            if at is None:
                raise InputError(
                    f"expires={expires!r:.60}: give a datetime, a time such as '2026-12-31' or 1798675200, or the name of a field of meta"
                )
            return cls(at)
        return cls()

    def of(self, given: Given) -> dict[Id, int]:
        """When documents expire, those that do. Of an id that comes twice, the last counts."""
        if self == NEVER:
            return {}
        last = dict(zip(given.ids, self.each(given), strict=True))
        return {id_: at for id_, at in last.items() if at is not None}

    def each(self, given: Given) -> list[int | None]:
        """The same, document by document."""
        if self.field is None:
            return [self.at] * len(given)
        return [self._read(self.field, id_, meta) for id_, meta in zip(given.ids, given.metas, strict=True)]

    @staticmethod
    def _read(field: str, id_: Id, meta: str | None) -> int | None:
        value = field_of(json.loads(meta), field) if meta else None
        if value is None or value is MISSING:
            return None
        at = moment(value)
        if at is None:
            raise InputError(f"document {id_!r}: its {field!r} is {value!r:.60}: give a time such as '2026-12-31' or 1798675200")
        return at


NEVER = Expiry()


def now() -> int:
    """In milliseconds since 1970."""
    return round(time.time() * 1000)


def moment(value: Any) -> int | None:
    """A time in milliseconds since 1970; one that names no zone is UTC. None where it is none."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if isinstance(value, datetime):
        value = (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if not is_number(value) or not abs(value) < FARTHEST // 1000:  # not a number is not less
        return None
    return round(value * 1000)
