"""``lookalike admit``"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import click

import lookalike
from lookalike.cli.inputs import document_options
from lookalike.cli.options import answer_options, note, print_json, print_table, say
from lookalike.cli.progress import Counter, ProblemNotes
from lookalike.cli.stores import Ways, collection_option, created, expiry_options, store_argument
from lookalike.errors import InputError
from lookalike.figures import counted, shown_score

AT_A_TIME = 1024  # documents whose answers are printed together
SHOWN = 20


@click.command("admit")
@store_argument
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("--by", type=Ways(), default="near", show_default=True, help="What is compared.")
@click.option("--threshold", type=float, default=None, help="The least similarity that keeps a document out [default: the collection's]")
@click.option("--k", type=int, default=3, show_default=True, help="With --by simhash: how many bits may differ.")
@click.option(
    "--alike",
    type=click.Choice(["refuse", "link", "add"]),
    default="refuse",
    show_default=True,
    help="What becomes of a document that looks like another: refuse it, link it to the cluster of the other, or add it anyway.",
)
@expiry_options
@document_options
@collection_option
@answer_options
def command(
    store: str,
    inputs: tuple[str, ...],
    by: str,
    threshold: float | None,
    k: int,
    alike: str,
    ttl: float | None,
    expires: str | float | None,
    text_column: str,
    id_column: str,
    format_: str | None,
    extract: str,
    encoding: str | None,
    collection: str,
    as_json: bool,
    quiet: bool,
) -> None:
    """Add those documents of each INPUT to STORE that look like none there, and name what keeps the others out.

    Asking and adding is one step: several processes may do it at once, and of documents that look alike one is added. STORE is made if it
    is not there, for this threshold. INPUT is what 'lookalike add' takes. With --json there is one line per document:
    {"id", "admitted", "match"}.
    """
    refused: list[tuple[str, str, str]] = []
    asked = admitted = 0
    with Counter(quiet, "documents") as progress:
        problems = ProblemNotes(progress, quiet)
        documents = lookalike.documents(
            list(inputs),
            text_column=text_column,
            id_column=id_column,
            format=format_,
            encoding=encoding,
            extract=extract,
            on_problem=problems,
        )
        first = list(islice(documents, AT_A_TIME))  # what is wrong with the input as a whole is said before there is a store
        with _opened(store, collection, by, threshold) as index:
            for part in _parts(first, documents):
                answers = index.admit(part, by=by, threshold=threshold, k=k, alike=alike, ttl=ttl, expires=expires)
                for document, answer in zip(part, answers, strict=True):
                    asked, admitted = asked + 1, admitted + answer.admitted
                    if as_json:
                        print_json({"id": document.id, **answer.to_dict()})
                    elif answer.match is not None and len(refused) < SHOWN:
                        refused.append((str(document.id), str(answer.match.id), shown_score(answer.match.score)))
                progress.at(asked)
        problems.finish()
    if not as_json:
        say(f"{counted(asked, 'document')}: {admitted:,} admitted, {asked - admitted:,} refused", bold=True)
        if refused:
            print_table(("document", "looks like", "score"), refused, right=(2,))
    if problems.skipped:
        note(f"{problems.skipped:,} skipped", quiet)
    if not asked and problems.skipped:
        raise InputError("nothing could be read: check the files, and the names of their columns (--text-column, --id-column)")


def _opened(store: str, collection: str, by: str, threshold: float | None) -> lookalike.Index:
    """A store that is there keeps what it was made with; a new one is made for the threshold that is asked for."""
    try:
        return created(store, collection, no_text=False, keyed=False, create=False)
    except (lookalike.StoreBusy, lookalike.Corrupt):
        raise
    except lookalike.StoreError:
        return created(store, collection, no_text=False, keyed=False, threshold=threshold if by == "near" else None)


def _parts(first: list[lookalike.Document], rest: Iterator[lookalike.Document]) -> Iterator[list[lookalike.Document]]:
    part = first
    while part:
        yield part
        part = list(islice(rest, AT_A_TIME))
