"""From the URL of a store to what libpq connects with, and to a name that can be shown.

Credentials may come from the URL, or from where libpq looks for them: PGPASSFILE, a service file, the environment. Only what
messages need goes into the name: no password, and no option that might hold one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from lookalike.errors import InputError

DEFAULT_COLLECTION = "default"
POOL = 10
SHOWN = ("host", "port", "dbname", "service", "user")  # options of libpq that are part of the name
_TIME = re.compile(r"(\d+(?:\.\d+)?)(ms|s|min)?")
_MILLISECONDS = {"ms": 1, "s": 1000, "min": 60_000, None: 1000}


@dataclass(frozen=True, slots=True)
class Address:
    conninfo: str
    name: str
    secrets: tuple[str, ...]  # what no message may contain
    collection: str
    timeout: int  # of a statement in milliseconds; 0 is none
    pool: int  # connections at once
    bulk: bool  # indexes are made when the store is closed

    @classmethod
    def parse(cls, url: str, collection: str) -> Address:
        """Options of ours are ``collection``, ``timeout``, ``pool`` and ``bulk``; all others are libpq's."""
        try:
            parts = urlsplit(url)
            options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query), errors="strict"))
        except ValueError:
            # What is wrong may be part of a password: it is not repeated.
            raise InputError("this is no valid PostgreSQL URL: postgresql://user@host:port/database?collection=name") from None
        named = options.pop("collection", None)
        if named is not None and collection not in (DEFAULT_COLLECTION, named):
            raise InputError(f"collection={collection!r}, but the URL says {named!r}: give one of them")
        timeout, pool, bulk = (options.pop(name, None) for name in ("timeout", "pool", "bulk"))
        user, _, password = parts.netloc.rpartition("@")[0].partition(":")
        secrets = {unquote(password), password, *(value for key, value in options.items() if "password" in key)}
        shown = {key: value for key, value in options.items() if key in SHOWN}
        place = f"{user}@{parts.netloc.rpartition('@')[2]}" if user else parts.netloc.rpartition("@")[2]
        return cls(
            # A URL keeps its two slashes even where there is no host between them, as with a service.
            f"postgresql://{parts.netloc}{parts.path}?{urlencode(options, quote_via=quote)}",
            f"postgresql://{place}{parts.path}" + (f"?{urlencode(shown, safe='/')}" if shown else ""),
            tuple(sorted(filter(None, secrets), key=len, reverse=True)),
            named or collection,
            _milliseconds(timeout),
            _connections(pool),
            _switch(bulk),
        )

    def hide(self, message: str) -> str:
        """A message of libpq without the password."""
        for secret in self.secrets:
            message = message.replace(secret, "***")
        return message


def _milliseconds(value: str | None) -> int:
    if value is None:
        return 0
    found = _TIME.fullmatch(value)
    if not found:
        raise InputError(f"timeout={value!r}: give seconds, or a number with ms, s or min")
    return round(float(found[1]) * _MILLISECONDS[found[2]])


def _connections(value: str | None) -> int:
    if value is None:
        return POOL
    if not value.isdecimal() or not 1 <= int(value) <= 1000:
        raise InputError(f"pool={value!r}: give the largest number of connections, 1 to 1000")
    return int(value)


def _switch(value: str | None) -> bool:
    if value not in (None, "on", "off"):
        raise InputError(f"bulk={value!r}: on or off")
    return value == "on"
