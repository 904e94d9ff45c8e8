"""From the URL of a store to what libpq connects with, and to a name that can be shown.

Credentials may come from the URL, or from where libpq looks for them: PGPASSFILE, a service file, the environment. Passwords are taken out
of the URL before libpq reads it, so that no message of it can have one, and only what messages need goes into the name. A URL that
cannot be read, or in which a password cannot be told from the rest for sure, is refused, and nothing of it is repeated.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote, urlencode

from lookalike.errors import InputError

DEFAULT_COLLECTION = "default"
POOL = 10
SHOWN = ("host", "port", "dbname", "service", "user")  # options of libpq that are part of the name
# As libpq has it: what is in front of the first "@" is user and password, unless there is a "/" before.
_URL = re.compile(
    r"(?:(?P<user>[^:@/?#]*)(?::(?P<password>[^@/]*))?@)?"
    r"(?P<hosts>[^@/?#]*)(?:/(?P<database>[^@?#]*))?(?:\?(?P<query>[^#]*))?"
)
_HOST = re.compile(r"(?:\[[^\[\]]*\]|[^:\[\]]*)(?::\d*)?")
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})|%00")
_SECRET = re.compile(r"password|secret")
_TIME = re.compile(r"(\d+(?:\.\d+)?)(ms|s|min)?")
_MILLISECONDS = {"ms": 1, "s": 1000, "min": 60_000, None: 1000}
UNREADABLE = (
    "this PostgreSQL URL cannot be read: it should look like postgresql://user@host:port/database?collection=name, with options that libpq "
    "knows. In a name or a password write % as %25, @ as %40, : as %3A, / as %2F, ? as %3F, # as %23, & as %26 and a space as %20"
)


@dataclass(frozen=True, slots=True)
class Address:
    options: dict[str, Any] = field(repr=False)  # of libpq, the password among them
    name: str
    collection: str
    timeout: int  # of a statement in milliseconds; 0 is none
    pool: int  # connections at once
    bulk: bool  # indexes are made when the store is closed

    @classmethod
    def parse(cls, url: str, collection: str) -> Address:
        """Options of ours are ``collection``, ``timeout``, ``pool`` and ``bulk``; all others are libpq's."""
        found = _readable(url)
        if found is None:
            raise InputError(UNREADABLE)
        place, secrets, options = found
        named = options.pop("collection", None)
        if named is not None and collection not in (DEFAULT_COLLECTION, named):
            raise InputError(f"collection={collection!r}, but the URL says {named!r}: give one of them")
        timeout, pool, bulk = (options.pop(name, None) for name in ("timeout", "pool", "bulk"))
        shown = {key: value for key, value in options.items() if key in SHOWN}
        connecting = _libpq_options(f"{place}?{urlencode(options, quote_via=quote)}", secrets)
        if connecting is None:
            raise InputError(UNREADABLE)
        return cls(
            connecting,
            place + (f"?{urlencode(shown, safe='/')}" if shown else ""),
            named or collection,
            _milliseconds(timeout),
            _connections(pool),
            _switch(bulk),
        )


def _readable(url: str) -> tuple[str, dict[str, str], dict[str, str]] | None:
    """The URL up to its options, without a password; the secrets; the options."""
    found = _URL.fullmatch(url.partition("://")[2])
    if not found or "\0" in url or _STRAY_PERCENT.search(url) or not all(map(_HOST.fullmatch, found["hosts"].split(","))):
        return None
    pairs = [pair.partition("=") for pair in found["query"].split("&")] if found["query"] else []
    try:
        options = {unquote(key, errors="strict"): unquote(value, errors="strict") for key, _, value in pairs}
        password = None if found["password"] is None else unquote(found["password"], errors="strict")
    except UnicodeDecodeError:
        return None
    if not all(key and sign for key, sign, _ in pairs):
        return None
    secrets = {key: options.pop(key) for key in list(options) if _SECRET.search(key)}
    if password:
        secrets.setdefault("password", password)
    user = f"{found['user']}@" if found["user"] else ""
    database = "" if found["database"] is None else f"/{found['database']}"
    # A URL keeps its two slashes even where there is no host between them, as with a service.
    return f"postgresql://{user}{found['hosts']}{database}", secrets, options


def _libpq_options(url: str, secrets: dict[str, str]) -> dict[str, Any] | None:
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    try:
        options: dict[str, Any] = conninfo_to_dict(url) | secrets
        make_conninfo("", **dict.fromkeys(secrets, ""))  # whether there are such options
    except (ProgrammingError, UnicodeError):
        return None
    return options


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
    if not value.isdecimal() or len(value) > 9 or not 1 <= int(value) <= 1000:
        raise InputError(f"pool={value!r}: give the largest number of connections, 1 to 1000")
    return int(value)


def _switch(value: str | None) -> bool:
    if value not in (None, "on", "off"):
        raise InputError(f"bulk={value!r}: on or off")
    return value == "on"
