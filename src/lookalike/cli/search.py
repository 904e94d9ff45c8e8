"""``lookalike search``"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import lookalike
from lookalike.cli.inputs import given
from lookalike.cli.options import answer_options, note, print_json, print_table, say
from lookalike.cli.pages import Fetching, fetch_options, read_input, refuse_url
from lookalike.cli.stores import Ways, collection_option, existing, store_argument, takes, where_option
from lookalike.errors import InputError
from lookalike.figures import shown_score, shown_share
from lookalike.files.model import where
from lookalike.io import NotText
from lookalike.reports.escaping import columns

if TYPE_CHECKING:
    from lookalike import Index, Match, Matches

_NUMBER = re.compile(r"[-+]?[0-9]{1,40}|0[xX][0-9A-Fa-f]{1,40}")
EXCERPT_COLUMNS = 60
SHOWN_FIELDS = 8
_Thing = str | bytes | Path | lookalike.Page | lookalike.FileText | Mapping[str, Any]


@click.command("search")
@store_argument
@click.argument("file", required=False, metavar="[FILE]")
@click.option("--text", default=None, help="A text instead of a file.")
@click.option(
    "--as",
    "what",
    type=click.Choice(["text", "page", "record", "code"]),
    default=None,
    help="What FILE is [default: .html a page, all else text]",
)
@click.option(
    "--simhash",
    default=None,
    metavar="NUMBER",
    help="A SimHash instead of a text: a decimal number, or 0x…",
)
@click.option("--by", type=Ways(), default=None, help="What to compare [default: near]")
@click.option("--k", type=int, default=3, show_default=True, help="With --by simhash: how many bits may differ.")
@click.option(
    "--threshold",
    type=float,
    default=None,
    help="Matches from this score on [default: as the collection for near and structure, 0 for meaning, 0.5 of files]",
)
@click.option(
    "--min-share",
    type=float,
    default=None,
    help="With --by passages: documents of which FILE holds at least this share; exit code 1 if there is none.",
)
@click.option("--compare", is_flag=True, help="Also give the score that 'lookalike compare' gives, which is on another scale.")
@click.option("--approximate", is_flag=True, help="With --by meaning: faster among many, and may miss some of the nearest.")
@click.option("--limit", type=int, default=10, show_default=True, help="At most so many matches, the best first.")
@click.option("--extract", type=click.Choice(["main", "all"]), default=None, help="With --as page: which text of it [default: main]")
@click.option("--id-column", default="id", show_default=True, help="With --as record: this one is no part of the record, as in 'add'.")
@click.option("--encoding", default=None, help="Encoding of FILE; by default it is found out and stated.")
@fetch_options
@where_option
@collection_option
@answer_options
def command(
    store: str,
    file: str | None,
    text: str | None,
    what: str | None,
    simhash: str | None,
    by: str | None,
    k: int,
    threshold: float | None,
    min_share: float | None,
    compare: bool,
    approximate: bool,
    limit: int,
    extract: str | None,
    id_column: str,
    encoding: str | None,
    fetch: bool,
    allow_private: bool,
    where: str | None,
    collection: str,
    as_json: bool,
    quiet: bool,
) -> None:
    """What in STORE looks like FILE ('-' is standard input), like --text, or like a --simhash.

    --by near: texts that are alike as a whole; simhash: whose SimHash differs in up to --k bits; passages: texts that share
    a passage with it; meaning: texts that say the same, in whatever words; fuzzy: files whose bytes are alike, by TLSH or
    ssdeep; structure: web pages of the same template; record: records that are alike in their fields, of a JSON object, or the profiles
    that 'scan' keeps, of any other file. Of a web page
    (.html) the main text is compared, as 'add' keeps it; of a document (PDF, DOCX …), of mail with its attachments and of an archive
    the text, and passages are named by page, sheet or slide. Exit code 0, also if nothing looks like it; with --min-share 1 if nothing
    does.
    """
    if sum(given is not None for given in (file, text, simhash)) != 1:
        raise InputError("give one thing to look for: a FILE, '-' for standard input, --text, or --simhash")
    by = by or ("record" if what == "record" else "near" if simhash is None else "simhash")
    what = what or ("record" if takes(by) == "record" else "page" if takes(by) == "page" or extract else None)
    _check_options(file, what, by, extract)
    if approximate and by != "meaning":
        raise InputError(f"--approximate is for --by meaning: --by {by} is exact and quick, leave it out")
    if min_share is not None and by != "passages":
        raise InputError(f"--min-share is how much of a document FILE holds: add --by passages, instead of --by {by}")
    thing: _Thing | None = text if what != "record" or text is None else _fields(text, "--text", id_column)
    if file is not None and what == "record":
        thing = _record(file, encoding, id_column)
    elif file is not None:
        thing = _bytes(file) if takes(by) == "bytes" else _read(file, what, by, extract, Fetching(fetch, allow_private), encoding, quiet)
    read = thing.text if isinstance(thing, lookalike.FileText) else thing
    if min_share is not None and isinstance(read, str) and not read.strip():
        # As of other files without text, of which the answer would be that they hold nothing.
        raise InputError(f"{file!r} has no text, so nobody can say what it holds: search for its bytes --by fuzzy")
    with existing(store, collection) as index:
        if what == "code":
            _check_code(index, file)
        found = index.search(
            thing,
            simhash=_number(simhash, by),
            by=by,
            k=k,
            threshold=threshold,
            limit=limit,
            approximate=approximate,
            compare=compare,
            min_share=min_share,
            where=where,
        )
        if as_json:
            print_json([match.to_dict() for match in found])
        elif found:
            _show(index, found, compare, shares=min_share is not None)
        else:
            say("nothing looks like it")
    for line in found.notes:
        note(line, quiet)
    if found.total > len(found):
        note(f"{found.total:,} match; the best {len(found)} are shown (--limit)", quiet)
    if min_share is not None and not found:
        sys.exit(1)


def _check_options(file: str | None, what: str | None, by: str, extract: str | None) -> None:
    if file is None and what == "page":
        raise InputError("pages are files or addresses: name one, or '-' for standard input")
    if takes(by) == "page" and (what != "page" or extract):
        raise InputError(f"--by {by} compares web pages as a whole: leave out {'--extract' if extract else f'--as {what}'}")
    if (takes(by) == "record") != (what == "record"):
        raise InputError(
            f"--as record goes with --by record, and --by record compares records: leave out {'--by' if what == 'record' else '--as'}"
        )
    if takes(by) == "bytes" and what == "page":
        raise InputError(f"--by {by} compares the bytes of files: leave out --as page and --extract")


def _fields(text: str, name: str, id_column: str) -> Mapping[str, Any]:
    """A JSON object as ``add`` stores it: without its id."""
    return {field: value for field, value in lookalike.fingerprints.parse_record(text, name).items() if field != id_column}


def _record(file: str, encoding: str | None, id_column: str) -> Mapping[str, Any] | Path:
    """One JSON object; a document or any other file that is none is searched for by the profile that ``scan`` keeps of it."""
    refuse_url(file, "a record is one JSON object in a file; name one")
    thing = given(file)
    if isinstance(thing, Path):
        from lookalike.profiles.records import is_json_object

        if not is_json_object(thing):
            return thing
    data = (
        lookalike.text.decode_text(thing, "standard input", encoding)
        if isinstance(thing, bytes)
        else lookalike.text.read_text(thing, encoding)
    )
    return _fields(data.text, file, id_column)


def _check_code(index: Index, file: str | None) -> None:
    """A collection of code reads all texts as code in its language; another one does not."""
    from lookalike.text.code import language_of

    scheme, _, language = index.recipe.tokenizer.partition(":")
    if scheme != "code":
        raise InputError("--as code needs a collection of code: make one with 'lookalike add STORE FILES --as code', or leave it out")
    if file not in (None, "-") and (its := language_of(Path(str(file)))) != language:
        raise InputError(f"{file!r} is {its}, and the collection has {language}: leave out --as code to search for it all the same")


def _bytes(file: str) -> bytes | Path:
    refuse_url(file, "bytes are compared of files alone; name one")
    return given(file)


def _read(
    file: str, what: str | None, by: str, extract: str | None, fetching: Fetching, encoding: str | None, quiet: bool
) -> str | lookalike.Page | lookalike.FileText:
    """The page that was asked for, or the text as a store keeps it."""
    try:
        found = read_input(file, "text" if what == "code" else what, fetching, encoding, quiet)
        wanted: str | lookalike.Page | lookalike.FileText
        if takes(by) == "page" and isinstance(found.thing, lookalike.Page):
            wanted = found.thing
        else:
            wanted = found.read or found.text(extract or "main")
    except NotText as error:
        raise error.instead("search for its bytes --by fuzzy") from error
    for line in found.notes:
        note(line, quiet)
    return wanted


def _number(simhash: str | None, by: str) -> int | None:
    if simhash is None:
        return None
    if by != "simhash":
        raise InputError(f"--simhash is compared with SimHashes: leave out --by {by}")
    if not _NUMBER.fullmatch(simhash):
        raise InputError(f"--simhash {simhash}: give a number, such as -6344302468572494147, or in hexadecimal 0xa7f48284b51a46bd")
    return int(simhash, 16 if "x" in simhash.lower() else 10)


def _show(index: Index, found: Matches, compare: bool, shares: bool) -> None:
    if any(match.fields for match in found):
        _show_fields(found)
        return
    rows = []
    texts = {document.id: document.text for document in index.documents([match.id for match in found])}
    for match in found:
        compared = ["–" if match.compared is None else shown_score(match.compared)] if compare else []
        share = [shown_share(match.share or 0.0)] if shares else []
        excerpt = _excerpt(texts.get(match.id), match)
        rows.append((str(match.id), *share, shown_score(match.score), _distance(match.distance), *compared, _places(match), excerpt))
    headers = ["id", *(["share of it"] if shares else []), f"score ({found.scale})", "distance", *(["compare"] if compare else [])]
    named = any(row[-2] for row in rows)  # most collections hold no files with pages
    shown = rows if named else [(*row[:-2], row[-1]) for row in rows]
    print_table((*headers, *(["where"] if named else []), ""), shown, right=range(1, len(headers)))


def _places(match: Match) -> str:
    """Where the longest passage in common is: in the file, and in the document."""
    if not match.passages or not any(match.places):
        return ""
    longest = max(match.passages, key=lambda passage: passage.right[1] - passage.right[0])
    ours, theirs = where(match.places[0], longest.left), where(match.places[1], longest.right)
    return " ↔ ".join(filter(None, (ours, theirs)))


def _show_fields(found: Matches) -> None:
    """The part of each field instead of a text."""
    names = list(dict.fromkeys(name for match in found for name in match.fields or ()))[:SHOWN_FIELDS]
    rows = []
    for match in found:
        parts = (match.fields.get(name) if match.fields else None for name in names)
        rows.append((str(match.id), shown_score(match.score), *("–" if part is None else shown_score(part.similarity) for part in parts)))
    print_table(("id", f"score ({found.scale})", *names), rows, right=tuple(range(1, 2 + len(names))))


def _distance(distance: float) -> str:
    """Bits and the distances of digests are whole numbers, the others are shares."""
    return str(distance) if isinstance(distance, int) else shown_score(distance)


def _excerpt(text: str | None, match: Match) -> str:
    """The longest passage in common, or how the text begins."""
    if text is None:
        return ""
    if match.passages:
        start, end = max((passage.right for passage in match.passages), key=lambda span: span[1] - span[0])
        return _shortened(text[start:end])
    return _shortened(text[: 4 * EXCERPT_COLUMNS])


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    if columns(line) <= EXCERPT_COLUMNS:
        return line
    widths = accumulate(map(columns, line))
    return "".join(char for char, width in zip(line, widths, strict=True) if width < EXCERPT_COLUMNS) + "…"
