"""``lookalike serve``"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import click

import lookalike
from lookalike.cli.options import note, quiet_option
from lookalike.cli.stores import trusted
from lookalike.errors import InputError

_LIMITS = {
    "body": ("MB", 1 << 20, "Most megabytes of a request [default: 32]"),
    "text": ("N", 1, "Most characters of a text [default: 4000000]"),
    "pairs": ("N", 1, "Most characters of all documents that are compared each with each [default: 4000000]"),
    "seconds": ("S", 1, "Most seconds of a request [default: 30]"),
    "rate": ("N", 1, "Most requests per second and client [default: any]"),
    "heavy": ("N", 1, "Most comparisons, clusters, and searches by passages or meaning at a time, per process [default: 2]"),
    "waiting": ("N", 1, "Most of these that wait for their turn, per process [default: 32]"),
    "writes": ("N", 1, "Most documents that wait to be written, per process [default: 2000]"),
    "connections": ("N", 1, "Most connections per process [default: 4000]"),
}


def _limit_options(command: Callable[..., None]) -> Callable[..., None]:
    """An option --max-NAME for each limit."""
    for name, (metavar, _, help_) in reversed(_LIMITS.items()):
        command = click.option(f"--max-{name}", name, type=float, default=None, metavar=metavar, help=help_)(command)
    return command


@click.command("serve")
@click.argument("store", metavar="[STORE]", required=False)
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="The address to listen at; beyond this machine only with --token-file."
)
@click.option("--port", type=int, default=8765, show_default=True, help="The port; 0 takes a free one.")
@click.option(
    "--token-file", type=click.Path(path_type=Path), default=None, help="Lines 'TOKEN read|write [collections] [name]': who may ask."
)
@click.option("--processes", type=int, default=None, help="Processes that answer [default: one per core]")
@click.option("--read-only", is_flag=True, help="Nothing can be written.")
@click.option("--fetch", is_flag=True, help="Allow pages to be fetched from public addresses.")
@click.option("--demo", is_flag=True, help="Serve example data from a temporary store, instead of STORE.")
@_limit_options
@click.option("--audit-log", type=click.Path(path_type=Path), default=None, help="A line per write goes here [default: standard error]")
@quiet_option
def command(
    store: str | None,
    host: str,
    port: int,
    token_file: Path | None,
    processes: int | None,
    read_only: bool,
    fetch: bool,
    demo: bool,
    audit_log: Path | None,
    quiet: bool,
    **limits: float | None,
) -> None:
    """Serve STORE over HTTP, with a web page to compare, search and look around in it.

    STORE is a path or a database; one that is not there is made. Without --token-file only this machine can reach it. See /docs of
    the service for what it answers, and docs/http.md. Ctrl-C or SIGTERM ends it; everything that was acknowledged is on the disk.
    """
    if (store is None) == (not demo):
        raise InputError(
            "name a STORE to serve, or --demo for example data" if store is None else "--demo has its own store: leave out STORE"
        )
    logging.basicConfig(level=logging.WARNING if quiet else logging.INFO, format="%(message)s", stream=sys.stderr)
    given = {name: value * _LIMITS[name][1] for name, value in limits.items() if value is not None}
    whole = {name: value if name in ("seconds", "rate") else int(value) for name, value in given.items()}
    with TemporaryDirectory(prefix="lookalike-demo-") as folder:
        place = str(Path(folder) / "demo.lookalike") if demo else str(store)
        if demo:
            from lookalike.service.demo import fill

            note(f"made an example store with {fill(place)} documents", quiet)
        lookalike.service.serve(
            place,
            host=host,
            port=port,
            token_file=token_file,
            processes=processes,
            read_only=read_only,
            fetch=fetch,
            limits=whole,
            trust=trusted(),
            audit_log=audit_log,
            started=lambda address: note(f"serving {'example data' if demo else store} at {address} (Ctrl-C ends it)", quiet),
        )
