"""``la.fetch``: a page from the web.

    got = la.fetch("https://example.org/")
    la.compare(got.page(), la.page(Path("kept.html")))

Only http and https; only public addresses, checked after the name was resolved, and the connection goes to the address that was
checked; every redirect is checked the same way. Nothing is sent that could be a secret: no user, password, cookie or referrer. Proxies of
the environment are ignored on purpose: a proxy resolves names itself, so nobody could check where a request goes.
"""

from __future__ import annotations

from dataclasses import dataclass
from email.message import Message
from http.client import HTTPException

from lookalike.checks import check_bool, check_int, is_number
from lookalike.errors import FetchError, InputError
from lookalike.fetching.connections import Deadline, GetRequest, Network, ServerAnswer, failed
from lookalike.fetching.urls import Url, parse_url, redirected
from lookalike.markup.bodies import unpacked
from lookalike.markup.page import Page
from lookalike.markup.reading import served_page

MAX_BYTES = 32 << 20
TIMEOUT = 30.0
MAX_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_AT_ONCE = 1 << 16


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a server answered: the bytes, where they came from after all redirects, and what they are called."""

    url: str
    data: bytes
    charset: str | None  # of the Content-Type header, in small letters
    content_type: str
    redirects: tuple[str, ...] = ()  # the URLs that led here

    def page(self) -> Page:
        """The page in it; what the server says of its charset counts before what the page says."""
        return served_page(self.data, self.charset, self.url)


def fetch(
    url: str,
    *,
    max_bytes: int = MAX_BYTES,
    timeout: float = TIMEOUT,
    max_redirects: int = MAX_REDIRECTS,
    allow_private: bool = False,
    network: Network | None = None,
) -> Fetched:
    """Fetch a page: at most ``max_bytes``, packed and unpacked, within ``timeout`` seconds in all, over at most ``max_redirects``.

    ``allow_private`` allows addresses that are not public, such as 127.0.0.1. ``network`` resolves names and connects;
    it is there for tests. Whatever goes wrong is a ``FetchError``, a URL that cannot be fetched at all an ``InputError``.
    """
    _check_limits(max_bytes, timeout, max_redirects)
    check_bool("allow_private", allow_private)
    if network is not None and not callable(getattr(network, "resolve", None)):
        raise InputError(f"network is a {type(network).__name__}: give a Network, or None")
    deadline = Deadline(timeout)
    at = parse_url(url)
    passed: list[str] = []
    while True:
        with GetRequest(at, network or Network(), deadline, allow_private) as answer:
            location = answer.response.headers.get("Location")
            if answer.status not in _REDIRECTS or location is None:
                return _fetched(at, answer, deadline, max_bytes, tuple(passed))
        passed.append(str(at))
        if len(passed) > max_redirects:
            raise FetchError(f"{url}: more than {max_redirects} redirects, the last one to {location[:200]!r}")
        try:
            at = redirected(at, location)
        except InputError as error:
            raise FetchError(f"{at}: it leads to {location[:200]!r}, which is not fetched: {error}") from error


def _check_limits(max_bytes: int, timeout: float, max_redirects: int) -> None:
    check_int("max_bytes", max_bytes, 1, remedy="give a number of bytes, 1 or more")
    if not is_number(timeout) or not 0 < timeout <= 86_400:
        raise InputError(f"timeout={timeout!r}: give a number of seconds above 0")
    check_int("max_redirects", max_redirects, 0, remedy="give a number, 0 for none")


def _fetched(url: Url, answer: ServerAnswer, deadline: Deadline, max_bytes: int, passed: tuple[str, ...]) -> Fetched:
    if not 200 <= answer.status < 300:
        raise FetchError(f"{url}: the server answers {answer.status} {answer.reason[:100]}".rstrip())
    headers: Message = answer.response.headers
    try:
        data = unpacked(_body(url, answer, max_bytes), headers.get("Content-Encoding", ""), max_bytes)
    except (OSError, HTTPException) as error:
        raise failed(url, error, deadline) from error
    except ValueError as error:
        raise FetchError(f"{url}: its body cannot be unpacked: {error}") from error
    return Fetched(str(url), data, headers.get_content_charset(), headers.get_content_type(), passed)


def _body(url: Url, answer: ServerAnswer, max_bytes: int) -> bytes:
    response = answer.response
    pieces: list[bytes] = []
    size = 0
    while piece := response.read(min(_AT_ONCE, max_bytes + 1 - size)):
        pieces.append(piece)
        size += len(piece)
        if size > max_bytes:
            raise FetchError(f"{url}: more than {max_bytes:,} bytes: allow more with max_bytes=")
    if response.length:  # http.client does not mind
        raise FetchError(f"{url}: the connection ended {response.length:,} bytes too early: try again")
    return b"".join(pieces)
