"""Web pages as inputs of the verbs: files, standard input, and addresses where fetching was asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import click

import lookalike
from lookalike.cli.inputs import given
from lookalike.cli.options import note, working
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
    if not found.html.strip():
        raise InputError(f"{name}: the page is empty")
    return found


def refuse_url(name: str, remedy: str) -> None:
    """Where no page can be: an address is not a file that happens to be missing."""
    if looks_like_url(name):
        raise InputError(f"{name!r} is an address: {remedy}")
