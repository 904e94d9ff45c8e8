"""The command line: one file per verb, imported when it is called. Every verb calls public functions only."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click

from lookalike.errors import InputError, LookalikeError
from lookalike.lazy import imported
from lookalike.secrecy import hide

VERBS = {
    "fingerprint": "Fingerprint files or a text, in one or in every way.",
    "compare": "How alike two texts, files or records are, and why.",
    "calibrate": "The threshold that fits your own labelled pairs.",
    "dedupe": "A corpus without near-duplicates, and what was removed.",
    "pairs": "Who shares passages with whom: a folder against itself.",
    "scan": "A folder of files: copies, versions and families.",
    "plan": "What a dedupe would cost and find, from a sample.",
    "add": "Add documents to a store.",
    "admit": "Add what is new to a store, and name what keeps the rest out.",
    "search": "What in a store looks like a text, a file or a SimHash.",
    "clusters": "Documents of a store that look alike, or pages of one template.",
    "get": "Print documents of a store.",
    "remove": "Remove documents from a store.",
    "stats": "What a store holds.",
    "collections": "Copy, rename and drop collections, and give them aliases.",
    "check": "Check a store, and repair it.",
    "compact": "Make a store smaller and faster after many changes.",
    "export": "Write the documents of a store to a file.",
    "load": "Read back what export wrote.",
    "pg": "A collection on a table that you have in PostgreSQL.",
    "feedback": "How usable drafts were: what people kept of them.",
    "serve": "Serve a store over HTTP, with a web page.",
    "idf": "Learn an IDF table from a corpus.",
    "info": "Version, processor, recipes, tokenizers and extras.",
    "selftest": "Recompute the golden vectors on this machine.",
}

INTERNAL_ERROR = 70  # as sysexits.h has it
READER_GONE = 141  # what a shell says of a program that SIGPIPE ended
INTERRUPTED = 130


class _ReaderGone(Exception):
    """Nobody reads the output any more (``| head``)."""


class _EndOfFile(Exception):
    """An EOFError of ours."""


@contextmanager
def _kept_from_click() -> Iterator[None]:
    """click takes a broken pipe for exit code 1, which is "not alike", and the end of a file for Ctrl-C."""
    try:
        yield
    except BrokenPipeError as error:
        raise _ReaderGone from error
    except EOFError as error:
        raise _EndOfFile(str(error)) from error


class Verbs(click.Group):
    """Commands by name, so that ``lookalike --help`` imports none of them."""

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        with _kept_from_click():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: click.Context) -> Any:
        with _kept_from_click():
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()  # also before a verb's own exit code: what is not printed was not said

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command: click.Command = imported(f"lookalike.cli.{cmd_name}").command
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            close = _nearest(args[0], VERBS)
            raise click.UsageError(f"No such command {args[0]!r}." + (f" Did you mean {close[0]!r}?" if close else ""), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


def _nearest(name: str, known: Iterable[str]) -> list[str]:
    """The one that was probably meant, if there is one."""
    import difflib

    return difflib.get_close_matches(name, list(known), n=1)


def _print_version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        from lookalike.version import __version__

        click.echo(f"lookalike {__version__}")
        ctx.exit()


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_print_version, help="Print the version.")
def group() -> None:
    """How alike two things are and why; what looks like this among millions; a corpus without near-duplicates.

    Data goes to standard output, progress and messages to standard error. Exit codes: 0 done (compare: alike),
    1 compare: not alike, 2 wrong usage or bad input, 3 and up as docs/cli.md says, 141 nobody reads the output.
    """


def main(args: list[str] | None = None) -> None:
    """Run the command line; errors become one line on standard error and an exit code, never a traceback."""
    code: Any
    try:
        _check_standard_files()
        code = group.main(args, prog_name="lookalike", standalone_mode=False)
    except click.NoSuchOption as error:
        close = _nearest(error.option_name, error.possibilities or ())  # click would name several
        click.NoSuchOption(error.option_name, possibilities=close, ctx=error.ctx).show()
        code = error.exit_code
    except click.ClickException as error:
        error.message = hide(error.message)  # type: ignore[misc]  # nothing else shows it without the password
        error.show()
        code = error.exit_code
    except click.Abort as error:
        said = getattr(error.__cause__ or error.__context__, "__notes__", [])
        click.echo(": ".join(["lookalike: interrupted", *said]), err=True)
        code = INTERRUPTED
    except LookalikeError as error:
        click.echo(f"lookalike: {error}", err=True)
        code = error.exit_code
    except (_ReaderGone, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the interpreter must not try to flush again
        code = READER_GONE
    except MemoryError:
        click.echo("lookalike: out of memory: split the input or use a machine with more", err=True)
        code = 2
    except OSError as error:
        click.echo(hide(f"lookalike: {error.strerror or error}{f': {error.filename}' if error.filename else ''}"), err=True)
        code = 2
    except Exception as error:
        if os.environ.get("LOOKALIKE_TRACEBACK"):
            raise
        said = hide(f"{type(error).__name__}: {error}")
        click.echo(f"lookalike: internal error: {said}; set LOOKALIKE_TRACEBACK=1 and report it", err=True)
        code = INTERNAL_ERROR
    sys.exit(code if isinstance(code, int) else 0)


def program() -> None:
    """The command line as a process of its own."""
    try:
        main()
    except SystemExit as ended:
        _leave(ended.code)
        raise


def _leave(code: object) -> None:
    """Ends the process here and now. To take the interpreter apart, object by object, takes a sixth of a short run, and nobody needs it.

    Where somebody else is still at work or watches, or what was said cannot be written, nothing happens: Python ends as it always does.
    """
    if not isinstance(code, int) or threading.active_count() > 1 or _watched():
        return
    atexit._run_exitfuncs()
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _watched() -> bool:
    """Whether a debugger, a profiler or a measure of coverage, also of the new kind (Python 3.12), or a person (-i) wants to see it."""
    monitoring = getattr(sys, "monitoring", None)
    tools = monitoring is not None and any(monitoring.get_tool(number) for number in range(6))
    return bool(tools or sys.gettrace() or sys.getprofile() or sys.flags.interactive)


def _check_standard_files() -> None:
    """A shell can close them (``>&-``). Then the next file that is opened has their number, and would get what is printed."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            taken = os.open(os.devnull, os.O_RDONLY if number == 0 else os.O_WRONLY)
            if taken != number:
                os.dup2(taken, number)
                os.close(taken)
            if name == "stderr":
                sys.stderr = open(number, "w", closefd=False)  # noqa: SIM115 (as long as the program)
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
        raise InputError("standard output is closed: leave out >&-, or send what you do not need to /dev/null")
