"""Files, standard input and addresses as inputs of the verbs: each is read as what it is, or as what the user says it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

import lookalike
from lookalike.cli.inputs import given, read_stdin
from lookalike.cli.options import note, working
from lookalike.corpus.contents import Contents, contents, read_contents
from lookalike.errors import InputError
from lookalike.fetching.urls import looks_like_url

F = TypeVar("F", bound=Callable[..., Any])


def fetch_options(function: F) -> F:
    private = "With --fetch: also from addresses that are not public, such as 127.0.0.1."
    function = click.option("--allow-private", is_flag=True, help=private)(function)
    return click.option("--fetch", is_flag=True, help="Fetch pages that are given by address (http, https).")(function)


class Fetching(NamedTuple):
    """Whether pages may be fetched, and from where."""

    allowed: bool
    private: bool

    def check(self, name: str) -> bool:
        """Whether this is the address of a page; an error where it may not be fetched."""
        if not looks_like_url(name):
            return False
        if not self.allowed:
            raise InputError(f"{name!r} is an address: add --fetch to have it fetched, or name a file")
        return True


def read_input(name: str, kind: str | None, fetching: Fetching, encoding: str | None, quiet: bool) -> Contents:
    """A text, a web page, or a file whose bytes count. An address is a web page; standard input is text, unless ``kind`` says otherwise."""
    if looks_like_url(name) and kind not in (None, "page"):
        raise InputError(f"{name!r} is an address, and leads to a web page: leave out --as {kind}, or name a file")
    if looks_like_url(name) or (name == "-" and kind == "page"):
        page = read_page(name, fetching, encoding, quiet)
        return Contents(name, page, page.encoding)
    if name == "-":
        if kind == "file":
            raise InputError("--as file reads its inputs more than once: name files, not '-'")
        return read_contents(read_stdin(), "standard input", "text", encoding)
    found = contents(Path(name), kind, encoding)
    if isinstance(found.thing, lookalike.Page):
        _refuse_empty(found.thing, name)
    return found


def read_page(name: str, fetching: Fetching, encoding: str | None, quiet: bool) -> lookalike.Page:
    """The page in a file, on standard input or behind an address."""
    if fetching.check(name):
        with working(f"fetching {name}", quiet):
            got = lookalike.fetch(name, allow_private=fetching.private)
        if got.redirects:
            note(f"{name}: redirected to {got.url}", quiet)
        found = lookalike.page(got.data, encoding=encoding, name=got.url) if encoding else got.page()
    else:
        found = lookalike.page(given(name), encoding=encoding, name=name)
    _refuse_empty(found, name)
    return found


def _refuse_empty(page: lookalike.Page, name: str) -> None:
    if not page.html.strip():
        raise InputError(f"{name}: the page is empty")


def language_option(function: F) -> F:
    return click.option(
        "--language", default=None, metavar="NAME", help="With --as code: the language [default: by the ending of the name]"
    )(function)


def check_language_option(kind: str | None, language: str | None) -> None:
    if language is not None and kind != "code":
        raise InputError("--language is that of source code: add --as code")


def as_code(found: Contents, language: str | None) -> lookalike.Code:
    """What was read, as source code."""
    from lookalike.text.code import language_of

    made = lookalike.code(found.text(), language or language_of(Path(found.name)))
    made.name = found.name
    return made


def refuse_url(name: str, remedy: str) -> None:
    """Where no page can be: an address is not a file that happens to be missing."""
    if looks_like_url(name):
        raise InputError(f"{name!r} is an address: {remedy}")
