"""Addresses of pages, taken apart and checked before anything is asked of the network."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote, urljoin, urlsplit

from lookalike.errors import InputError

PORTS = {"http": 80, "https": 443}
MAX_URL = 8192  # characters; servers refuse longer ones
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_NO_PART_OF_A_URL = re.compile(r"[\x00-\x20\x7f\\]")
_KEPT = "!#$%&'()*+,/:;=?@[]~"  # what has a meaning in a path or a query, and escapes that are there already


class Url(NamedTuple):
    """A URL of http or https without user, password and fragment."""

    scheme: str
    host: str  # as the resolver and the certificate have it
    port: int
    target: str  # path and query

    @property
    def authority(self) -> str:
        """Host and port as the Host header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"


def looks_like_url(name: str) -> bool:
    """Whether this is meant as an address and not as a path: ``something://``."""
    return _SCHEME.match(name) is not None


def parse_url(text: str) -> Url:
    """The parts of a URL; an ``InputError`` where it is none that can be fetched."""
    if not isinstance(text, str):
        raise InputError(f"url of type {type(text).__name__}: give it as str")
    if len(text) > MAX_URL or _NO_PART_OF_A_URL.search(text):
        raise InputError(f"{text[:80]!r} is not a URL: it is longer than {MAX_URL} characters, or holds spaces or control characters")
    try:
        text.encode()  # a lone surrogate is no part of a URL
        parts = urlsplit(text)
        port = parts.port
        host = parts.hostname or ""
        # IDNA, as the resolver wants it; an IPv6 address and plain names stay as they are.
        host = host if host.isascii() else host.encode("idna").decode("ascii")
    except (ValueError, UnicodeError) as error:
        raise InputError(f"{text[:80]!r} is not a URL: {error}") from error
    scheme = parts.scheme.lower()
    if scheme not in PORTS:
        raise InputError(f"{text[:80]!r}: only http:// and https:// are fetched")
    if not host or port == 0:
        raise InputError(f"{text[:80]!r} is not a URL: it names no host")
    if parts.username is not None or parts.password is not None:
        raise InputError(f"{scheme}://…@{host}: user and password are not sent to servers: leave them out of the URL")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Url(scheme, host, port or PORTS[scheme], quote(target, safe=_KEPT))


def redirected(url: Url, location: str) -> Url:
    """Where a redirect from a URL leads."""
    try:
        joined = urljoin(str(url), location.strip())
    except ValueError as error:  # a bracket that does not close, among others
        raise InputError(f"{location[:80]!r} is not a URL: {error}") from error
    return parse_url(joined)
