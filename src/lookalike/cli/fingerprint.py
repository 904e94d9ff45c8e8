"""``lookalike fingerprint``"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

import lookalike
from lookalike.cli.inputs import given
from lookalike.cli.options import answer_options, complain, note, print_json, print_table, say, working
from lookalike.cli.pages import Fetching, as_code, check_language_option, fetch_options, language_option, read_input, read_page, refuse_url
from lookalike.errors import InputError, LookalikeError, UnknownName

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lookalike import Fingerprint, NoFingerprint

LARGE_FILE = 10_000_000
SHOWN_CHARACTERS = 160  # the joined Karp-Rabin value grows with the text; --json prints it whole


PAGE_KINDS = ("structure-simhash", "structure-minhash", "content-simhash", "content-minhash")


@click.command("fingerprint")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("--text", "texts", multiple=True, help="A text instead of a file; may be repeated.")
@click.option(
    "--as", "what", type=click.Choice(["file", "page", "code"]), default=None, help="What each FILE is; file: also of .html the source."
)
@language_option
@click.option("--kind", "kinds", default="all", show_default=True, help="Kinds, separated by commas: simhash, minhash, winnowing … or all.")
@click.option("--recipe", default=None, help="Name of the recipe for the text kinds (see 'lookalike info').")
@click.option("--extract", type=click.Choice(["main", "all"]), default=None, help="Of web pages: fingerprint the main text, or all of it.")
@click.option("--encoding", default=None, help="Encoding of the files; by default it is found out and stated.")
@fetch_options
@answer_options
def command(
    files: tuple[str, ...],
    texts: tuple[str, ...],
    what: str | None,
    language: str | None,
    kinds: str,
    recipe: str | None,
    extract: str | None,
    encoding: str | None,
    fetch: bool,
    allow_private: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Fingerprint each FILE ('-' is standard input) or --text, one line per input.

    Of a web page (.html) the kinds of text are of its main text, as a store keeps it; with --extract all of everything that can be
    read on it, and with --as file of its source. --as page: the structure and the content of a web page, apart. --as code: names,
    literals, comments and layout do not count.
    """
    if not files and not texts:
        raise InputError("nothing to fingerprint: name a FILE, '-' for standard input, or --text 'some text'")
    _check_options(what, texts, recipe, extract, language)
    options = _Options(kinds, recipe, encoding, extract, what, language, Fetching(fetch, allow_private), quiet)
    failed: LookalikeError | None = None
    for index, name in enumerate((*files, *texts)):
        is_text = index >= len(files)
        try:
            found = _of_text(name, options) if is_text else _of_file(name, options)
        except LookalikeError as error:
            if len(files) + len(texts) == 1:
                raise
            complain(error)  # the other inputs are still worth their lines
            failed = failed or error
            continue
        if as_json:
            encoding_used = {"encoding": found.encoding} if found.encoding else {}
            prints = {kind: each.to_dict() for kind, each in found.prints.items()}
            print_json({"input": "text" if is_text else name, **encoding_used, "fingerprints": prints})
        else:
            _show("text" if is_text else name, found)
        for line in found.notes:
            note(line, quiet)
    if failed:
        sys.exit(failed.exit_code)


class _Options(NamedTuple):
    kinds: str
    recipe: str | None
    encoding: str | None
    extract: str | None
    what: str | None
    language: str | None
    fetching: Fetching
    quiet: bool


class _Found(NamedTuple):
    prints: Mapping[str, Fingerprint | NoFingerprint]
    encoding: str | None = None
    notes: Sequence[str] = ()


def _check_options(what: str | None, texts: tuple[str, ...], recipe: str | None, extract: str | None, language: str | None) -> None:
    check_language_option(what, language)
    if what == "code" and (recipe or extract):
        raise InputError(f"--as code: code has a recipe of its own: leave out {'--recipe' if recipe else '--extract'}")
    if what == "code" and texts and language is None:
        raise InputError("--text does not say its language: name it, such as --language python")
    if what == "page" and (recipe or extract):
        given_too = "--recipe" if recipe else "--extract"
        raise InputError(f"--as page: fingerprints of pages have a recipe of their own: leave out {given_too}")
    if what == "file" and extract:
        raise InputError("--as file takes the source of web pages, and --extract their text: leave one of the two out")
    if texts and (what == "page" or extract):
        raise InputError(f"--text is not a page: leave out {'--as page' if what == 'page' else '--extract'}, or give the page as '-'")


def _of_text(text: str, options: _Options) -> _Found:
    if options.what == "code":
        return _Found(lookalike.fingerprint(lookalike.code(text, options.language), options.kinds))
    return _Found(lookalike.fingerprint(text, options.kinds, recipe=options.recipe))


def _of_file(name: str, options: _Options) -> _Found:
    if options.what == "page" or options.extract:
        page = read_page(name, options.fetching, options.encoding, options.quiet)
        if options.what == "page":
            return _Found(_page_prints(page, options.kinds), page.encoding, page.notes)
        text = lookalike.page_text(page, options.extract or "main")
        return _Found(lookalike.fingerprint(text, options.kinds, recipe=options.recipe), page.encoding, page.notes)
    if options.what == "code":
        source = read_input(name, "text", options.fetching, options.encoding, options.quiet)
        return _Found(lookalike.fingerprint(as_code(source, options.language), options.kinds), source.encoding, source.notes)
    refuse_url(name, "pages are fingerprinted with --as page or --extract, and fetched with --fetch")
    thing = given(name)
    extract = None if options.what == "file" else "main"
    with working(f"fingerprinting {name}", options.quiet or not _is_large(thing)):
        found = lookalike.fingerprint(thing, options.kinds, recipe=options.recipe, encoding=options.encoding, extract=extract)
    read = found.read
    return _Found(found, read.encoding if read else None, [f"{name}: {read.note}"] if read and read.note else [])


def _page_prints(page: lookalike.Page, kinds: str) -> dict[str, Fingerprint]:
    names = PAGE_KINDS if kinds == "all" else [kind.strip() for kind in kinds.split(",")]
    if unknown := [name for name in names if name not in PAGE_KINDS]:
        raise UnknownName(f"--kind {unknown[0]}: of pages there are {', '.join(PAGE_KINDS)}, or all")
    found = lookalike.page_print(page)
    return {name: getattr(found, name.replace("-", "_")) for name in names}


def _is_large(thing: str | bytes | Path) -> bool:
    return isinstance(thing, Path) and thing.exists() and thing.stat().st_size > LARGE_FILE


def _show(name: str, found: _Found) -> None:
    say(f"{name} ({found.encoding})" if found.encoding else name, bold=True)
    print_table(("", ""), [(kind, _summary(each.to_dict())) for kind, each in found.prints.items()])


def _summary(data: dict[str, Any]) -> str:
    if data.get("value") is not None:
        value = str(data["value"])
        return value if len(value) <= SHOWN_CHARACTERS else f"{value[:SHOWN_CHARACTERS]}… ({len(value)} characters)"
    if "status" in data:
        return f"– ({data['status']})"
    values = data["values"]
    shown = " ".join(str(value) for value in values[:4])
    return f"{len(values)} values: {shown}{' …' if len(values) > 4 else ''}"
