"""``lookalike compare``"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import lookalike
from lookalike.cli.options import (
    answer_options,
    bar,
    colours,
    form_option,
    forms_of,
    note,
    print_json,
    print_table,
    say,
    working,
)
from lookalike.cli.pages import Fetching, as_code, check_language_option, fetch_options, language_option, read_input
from lookalike.comparison.explaining import formula
from lookalike.comparison.passages import longest_first
from lookalike.comparison.reading import KINDS, fitted
from lookalike.corpus.contents import Contents
from lookalike.corpus.writing import check_reports, write_file
from lookalike.errors import InputError
from lookalike.figures import shown_score, shown_share
from lookalike.files.model import where
from lookalike.io import NotText

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lookalike import Comparison
    from lookalike.files import Place

SHOWN_PASSAGES = 5
AS_BYTES = "compare bytes with --as file"
METHODS = ["all", "tags", "structure", "style", "links", "forms", "text", "content", "representation"]
LARGE_TEXT = 300_000  # characters; below, a comparison takes less than a moment
PLAIN_WIDTH = 100  # of the changes, where there is no terminal to ask


@click.command("compare")
@click.argument("left", metavar="A")
@click.argument("right", metavar="B")
@click.option(
    "--as", "kind", type=click.Choice(KINDS), default=None, help="What A and B are [default: .html a page, binary a file, all else text]"
)
@language_option
@click.option("--method", type=click.Choice(METHODS), default=None, help="With --as page: what the score is of [default: all]")
@click.option("--align", type=click.Choice(["best", "order"]), default=None, help="With --as page: how tags are paired [default: best]")
@click.option("--weight", default=None, metavar="W", help="With --as page: weight of the head: equal, tags or a number [default: equal]")
@click.option("--strings", default=None, metavar="HOW", help="With --as page: lexical, meaning or another measure [default: lexical]")
@click.option("--model", default=None, metavar="MODEL", help="What computes meaning or representation: a name, a folder, module:function.")
@click.option("--centre", is_flag=True, help="With --method representation: subtract the mean of both pages from all vectors.")
@click.option("--measure", "measures", help="Measures to compute, separated by commas; by default all that need no model.")
@click.option("--threshold", type=float, default=0.8, show_default=True, help="From this score on, A and B are alike.")
@click.option("--ignore", "ignored", multiple=True, metavar="FILE", help="Text that does not count, such as a template; can be repeated.")
@form_option("invisible,script")
@click.option("--html", "page", metavar="OUT", help="Write a page that shows the comparison, in one file.")
@click.option("--encoding", default=None, help="Encoding of the files; by default it is found out and stated.")
@fetch_options
@answer_options
def command(
    left: str,
    right: str,
    kind: str | None,
    language: str | None,
    method: str | None,
    align: str | None,
    weight: str | None,
    strings: str | None,
    model: str | None,
    centre: bool,
    measures: str | None,
    threshold: float,
    ignored: tuple[str, ...],
    ignore_form: str | None,
    page: str | None,
    encoding: str | None,
    fetch: bool,
    allow_private: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """How alike the files A and B are ('-' is standard input), and why. Exit code 0: alike, 1: not alike.

    Each is read as what it is: a text, a document (PDF, DOCX, XLSX …), a web page (.html), or the bytes of a file without text. --as
    overrules that. Passages that two documents share are named by page, sheet or slide. --as code: names, literals, comments and layout
    do not count.
    """
    names = [part.strip() for part in measures.split(",")] if measures else None
    check_language_option(kind, language)
    _check_options(kind, ignored, page, [left, right, *ignored])
    fetching = Fetching(fetch, allow_private)
    inputs = _read(left, kind, encoding, fetching, quiet), _read(right, kind, encoding, fetching, quiet)
    left_thing, right_thing, notes = _things(*inputs, kind, language)
    left_file, right_file = (
        each.read if isinstance(thing, str) else None for each, thing in zip(inputs, (left_thing, right_thing), strict=True)
    )
    templates = [_read_ignored(name, encoding, fetching, quiet) for name in ignored] or None
    if isinstance(left_thing, lookalike.Page):
        _refuse_for_pages("--ignore" if ignored else "--ignore-form" if ignore_form else "--measure" if names else None)
    for line in notes:
        note(line, quiet)
    with working("comparing", quiet or not (_is_large(left_thing) or _is_large(right_thing))):
        found = lookalike.compare(
            left_file or left_thing,
            right_file or right_thing,
            kind="file" if isinstance(left_thing, Path) else None,
            measures=names,
            threshold=threshold,
            ignore=templates,
            ignore_form=forms_of(ignore_form),
            method=method,
            align=align,
            weight=_number(weight),
            strings=strings,
            model=model,
            centre="pages" if centre else None,
        )
    if page is not None:
        write_file(page, found.to_html(names=(left, right)))
        note(f"wrote {page}", quiet)
    if as_json:
        encodings = [{"input": name, "encoding": each.encoding} for name, each in zip((left, right), inputs, strict=True)]
        print_json({**found.to_dict(), "inputs": encodings})
    else:
        _show(found)
    sys.exit(0 if found.alike else 1)


def _check_options(kind: str | None, ignored: tuple[str, ...], page: str | None, inputs: list[str]) -> None:
    if ignored and kind not in (None, "text", "code"):
        raise InputError(f"--ignore needs texts, but A and B are compared --as {kind}: leave one of the two out")
    check_reports(inputs, {"--html": page})


def _number(weight: str | None) -> str | float | None:
    """A number, where it is one; compare() says what else there is."""
    try:
        return None if weight is None else float(weight)
    except ValueError:
        return weight


def _read(name: str, kind: str | None, encoding: str | None, fetching: Fetching, quiet: bool) -> Contents:
    try:
        return read_input(name, "text" if kind in ("record", "code") else kind, fetching, encoding, quiet)
    except NotText as error:
        raise error.instead(AS_BYTES) from error


def _things(left: Contents, right: Contents, kind: str | None, language: str | None) -> tuple[Any, Any, list[str]]:
    """What was read, as what it is compared as."""
    if kind not in ("record", "code"):
        return fitted(left, right, as_bytes=AS_BYTES)
    if kind == "code":
        things: list[Any] = [as_code(each, language) for each in (left, right)]
    else:
        things = [lookalike.parse_record(each.text(), each.name) for each in (left, right)]
    return things[0], things[1], [*left.notes, *right.notes]


def _read_ignored(name: str, encoding: str | None, fetching: Fetching, quiet: bool) -> str:
    found = read_input(name, None, fetching, encoding, quiet)
    if found.kind == "file":
        raise InputError(f"--ignore: {found.said}: give a text file")
    for line in found.notes:
        note(line, quiet)
    return found.text()


def _refuse_for_pages(option: str | None) -> None:
    if option:
        raise InputError(f"{option} is for texts, and A and B are web pages: leave it out, or add --as text to compare their source")


def _is_large(thing: object) -> bool:
    return isinstance(thing, Path) or (isinstance(thing, str) and len(thing) > LARGE_TEXT)


def _show(found: Comparison) -> None:
    relation = "≥" if found.score >= found.threshold else "<"
    scale = "calibrated " if found.kind == "text" else ""
    score = shown_score(found.score, threshold=found.threshold)
    say(f"{found.verdict}: {scale}score {score} {relation} {found.threshold:g}", bold=True, fg="green" if found.alike else "red")
    if found.kind in ("page", "code"):
        say(formula(found))
    if found.edits is not None:
        say("  ".join(f"{name} {shown_share(share)}" for name, share in found.edits.to_dict().items() if share or name == "kept"))
    if found.tags is not None:
        for name, part in (("head", found.tags.head.to_dict()), ("body", found.tags.body.to_dict())):
            counts = ", ".join(f"{part[what]:,} {what}" for what in ("equal", "changed", "gone", "new"))
            say(f"{name} {shown_score(part['score'])}: {counts}")
    if view := found.to_terminal(width=_width(), colours=colours()):
        click.echo(view, color=colours())
    print_table(("measure", "similarity", ""), [_row(name, value) for name, value in found.measures.items()], right=(1,))
    longest = [number - 1 for number, _ in longest_first(found.passages)][:SHOWN_PASSAGES]
    if found.kind == "code":
        lines = found.passage_lines()
        for left, right in (lines[number] for number in longest):
            say(f"shared: A lines {left[0]}–{left[1]}, B lines {right[0]}–{right[1]}")
    else:
        for passage in (found.passages[number] for number in longest):
            say(f"shared: A {_where(passage.left, found.left_places)}, B {_where(passage.right, found.right_places)}")
    if len(found.passages) > SHOWN_PASSAGES:
        say(f"… and {len(found.passages) - SHOWN_PASSAGES} more shared passages")
    if found.containment is not None and found.passages:
        say("  ".join(f"{shown_share(found.containment[side])} of {letter} shared" for side, letter in (("left", "A"), ("right", "B"))))
    for line in found.notes:
        say(f"note: {line}", dim=True)


def _where(span: tuple[int, int], places: Sequence[Place]) -> str:
    place = where(places, span)
    return f"{span[0]}–{span[1]}{f' ({place})' if place else ''}"


def _width() -> int:
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else PLAIN_WIDTH


def _row(name: str, value: float | None) -> tuple[str, str, str]:
    if value is None:
        return name, "–", ""
    return name, shown_score(value), bar(value, 20)
