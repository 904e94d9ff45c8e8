"""``lookalike pairs``"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

import lookalike
from lookalike.cli.options import answer_options, note, print_json, print_table, say
from lookalike.cli.pages import check_language_option, language_option
from lookalike.cli.progress import Counter, ProblemNotes
from lookalike.cli.stores import collection_option
from lookalike.corpus.writing import check_reports, write_file
from lookalike.errors import InputError
from lookalike.figures import counted, shown_score, shown_share
from lookalike.pairing.inputs import GROUPS
from lookalike.pairing.pairs import KINDS, LIMIT, MIN_SURPRISE

if TYPE_CHECKING:
    from lookalike import PairsReport

SHOWN = 20  # pairs on the terminal
EXCERPT = 60  # characters of a passage


def _names_parts(given: str) -> bool:
    """Whether --ignore names parts of texts, and no file."""
    return {name.strip() for name in given.split(",")} <= {"quotes", "references"} and not Path(given).exists()


def _parts(*lists: str | None) -> list[str] | None:
    return [name.strip() for given in lists if given is not None for name in given.split(",")] or None


@click.command("pairs")
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
@click.option("--as", "kind", type=click.Choice(KINDS), default="text", show_default=True, help="What is compared.")
@language_option
@click.option(
    "--ignore", "ignored", multiple=True, metavar="FILE|LIST", help="Text that does not count: a template, or as --leave-out; repeatable."
)
@click.option("--leave-out", default=None, metavar="LIST", help="Parts that do not count, separated by commas: quotes, references.")
@click.option(
    "--common", type=int, default=None, metavar="N", help="What more than N share does not count [default: half of them, 3 to 10, or 1%]"
)
@click.option("--threshold", type=float, default=None, metavar="T", help="The least score of a pair [default: 0; of records 0.8]")
@click.option("--min-length", type=int, default=None, metavar="N", help="Tokens of the shortest passage [default: 8, of code 12]")
@click.option(
    "--min-surprise", type=float, default=MIN_SURPRISE, show_default=True, metavar="BITS", help="How surprising a passage must be."
)
@click.option(
    "--group-by", type=click.Choice(GROUPS), default="auto", show_default=True, help="Whether each folder is one submission, or each file."
)
@click.option("--limit", type=int, default=LIMIT, show_default=True, help="At most so many pairs, the best ones.")
@click.option("--html", "page", default=None, metavar="OUT", help="Write a report to look at, in one file.")
@click.option("--anonymous", is_flag=True, help="With --html: numbers instead of names.")
@click.option("--csv", "table", default=None, metavar="OUT", help="Write the pairs as CSV.")
@click.option("--matrix", default=None, metavar="OUT", help="Write the scores of each with each as CSV.")
@click.option("--text-column", default="text", show_default=True, help="In tables: the column with the text.")
@click.option("--id-column", default="id", show_default=True, help="In tables: the column with the id.")
@collection_option
@answer_options
def command(
    inputs: tuple[str, ...],
    kind: str,
    language: str | None,
    ignored: tuple[str, ...],
    leave_out: str | None,
    common: int | None,
    threshold: float | None,
    min_length: int | None,
    min_surprise: float,
    group_by: str,
    limit: int,
    page: str | None,
    anonymous: bool,
    table: str | None,
    matrix: str | None,
    text_column: str,
    id_column: str,
    collection: str,
    as_json: bool,
    quiet: bool,
) -> None:
    """Who shares passages with whom: all files of a folder, or all documents of a store, against each other.

    INPUT is a folder, a file, a pattern, an archive, or a store. Where every file stands in a folder or an archive of its own, as
    submissions do, each of these is compared as a whole. Passages that many share, such as the assignment, do not count. The pairs are
    ranked: the score is the share of both texts that lies inside of shared passages. --as code: names, literals, comments and layout
    do not count.
    """
    check_language_option(kind, language)
    check_reports(inputs, {"--html": page, "--csv": table, "--matrix": matrix})
    if anonymous and not page:
        raise InputError("--anonymous is for the report: add --html OUT")
    with Counter(quiet, "documents") as progress:
        notes = ProblemNotes(progress, quiet)
        report = lookalike.pairs(
            list(inputs),
            kind=kind,
            language=language,
            ignore=[Path(name) for name in ignored if not _names_parts(name)] or None,
            leave_out=_parts(leave_out, *filter(_names_parts, ignored)),
            common=common,
            threshold=threshold,
            min_length=min_length,
            min_surprise=min_surprise,
            group_by=group_by,
            limit=limit,
            text_column=text_column,
            id_column=id_column,
            collection=collection,
            on_problem=notes,
            progress=progress.at,
        )
        notes.finish()
    if page:
        _write(page, report.to_html(anonymous=anonymous), quiet)
    if table:
        _write(table, report.to_csv(), quiet)
    if matrix:
        _write(matrix, report.matrix_csv(), quiet)
    if as_json:
        for row in report.to_dicts():
            print_json(row)
    else:
        _show(report)


def _write(name: str, content: str, quiet: bool) -> None:
    write_file(name, content)
    note(f"wrote {name}", quiet)


def _show(report: PairsReport) -> None:
    shown = report.pairs[:SHOWN]
    pairs = counted(report.total, "pair")
    say(f"{counted(len(report.things), 'document')}: {pairs} {'shares' if report.total == 1 else 'share'} something", bold=True)
    if shown:
        rows = [
            (
                shown_score(pair.score, 2),
                pair.left,
                pair.right,
                " / ".join(map(shown_share, pair.containment)) if pair.passages else "",
                str(pair.passages[0].tokens if pair.passages else ""),
            )
            for pair in shown
        ]
        print_table(("score", "left", "right", "shared of left / right", "longest"), rows, right=(0, 4))
        _show_passages(report)
    if report.total > len(shown):
        say(f"… and {report.total - len(shown):,} more (--json, --csv, --html)")
    groups = [group for group in report.clusters() if len(group) > 2]
    for group in groups[:5]:
        say(f"linked by pairs: {', '.join(group[:8])}{f' and {len(group) - 8} more' if len(group) > 8 else ''}")
    for line in report.notes:
        say(f"note: {line}", dim=True)


def _show_passages(report: PairsReport) -> None:
    """The longest passage of all, as an example of what was found."""
    best = max((pair for pair in report.pairs if pair.passages), key=lambda pair: pair.passages[0].tokens, default=None)
    if best is None:
        return
    texts = {thing.id: thing.parts for thing in report.things}
    passage = best.passages[0]
    start, end = passage.left
    text = " ".join(texts[best.left][passage.left_part].text[start : min(end, start + EXCERPT)].split())
    say(f"the longest passage, of {counted(passage.tokens, 'token')}: “{text}{' …' if end - start > EXCERPT else ''}”")
