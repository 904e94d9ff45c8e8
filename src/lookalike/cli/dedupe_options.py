"""The options that ``dedupe`` and ``plan`` share, in the groups of ``lookalike.deduping.settings``."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from lookalike.errors import InputError

if TYPE_CHECKING:
    from lookalike.spark import Engine

F = TypeVar("F", bound=Callable[..., Any])


def _group(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Several options as one, in this order."""
    return lambda function: reduce(lambda decorated, option: option(decorated), reversed(options), function)


method_options = _group(
    click.option(
        "--method",
        type=click.Choice(["minhash", "simhash", "exact", "bytes", "meaning"]),
        default="minhash",
        show_default=True,
        help="What counts as a duplicate. exact: equal words, whatever case and punctuation they have. bytes: equal to the byte."
        " simhash: 64 bits that differ in few; take --recipe reposts with it.",
    ),
    click.option(
        "--threshold", type=float, help="The least similarity of a duplicate: Jaccard [default: 0.8], of meaning the cosine [0.9]"
    ),
    click.option("--model", help="meaning: the model whose vectors are compared [default: use-multilingual]"),
    click.option("--distance", type=int, default=3, show_default=True, help="simhash: the most bits that differ in a duplicate."),
)
level_options = _group(
    click.option(
        "--level",
        type=click.Choice(["document", "paragraph", "line", "sentences", "substring"]),
        default="document",
        show_default=True,
        help="What is removed. sentences: three in a row that stand elsewhere too. substring: any passage of --min-length that does.",
    ),
    click.option(
        "--min-length", type=int, help="substring: the fewest tokens [50] or characters [200]; sentences: the fewest in a row [3]"
    ),
    click.option("--unit", type=click.Choice(["tokens", "characters"]), help="substring: what --min-length counts [default: tokens]"),
    click.option(
        "--within/--across",
        default=True,
        help="substring, sentences: cut also what a document itself repeats, or only what another one has. [default: within]",
    ),
)
input_options = _group(
    click.option("--text-column", default="text", show_default=True, help="Column of the text."),
    click.option("--id-column", default="id", show_default=True, help="Column of the id; without one, file and row serve."),
    click.option("--format", help="Format of the inputs [default: from their names; standard input: jsonl]"),
    click.option("--encoding", help="Encoding of the inputs [default: UTF-8 for tables, found out for texts]"),
    click.option(
        "--extract", type=click.Choice(["main", "all"]), default="main", show_default=True, help="Text of web pages: main or all."
    ),
    click.option("--recipe", default="default", show_default=True, help="How texts become features."),
)
against_options = _group(
    click.option("--against", metavar="STORE|FILE", multiple=True, help="Remove what this store has, or these files and folders, too."),
    click.option("--against-column", metavar="NAME", help="Column of the text in the files of --against [default: --text-column]"),
    click.option("--add", is_flag=True, help="Add what stays to the store of --against."),
    click.option(
        "--contains",
        type=float,
        metavar="SHARE",
        help="Remove only documents that hold this share of a text of --against, such as a question of a benchmark.",
    ),
    click.option("--ngram", type=int, help="--contains: how many tokens in a row are looked up [default: 13]"),
    click.option(
        "--contains-by",
        type=click.Choice(["ngrams", "passages"]),
        help="--contains: the share of n-grams, or of tokens that lie in shared passages of so many [default: ngrams]",
    ),
    click.option(
        "--references", type=click.Path(dir_okay=False, path_type=Path), help="--contains: list what became of each text of --against."
    ),
)
stream_options = _group(
    click.option(
        "--bloom",
        type=float,
        metavar="RATE",
        help="A stream, read once, in constant memory: exact copies go, and something new goes at this rate, such as 1e-6. No audit trail.",
    ),
    click.option("--capacity", type=int, help="--bloom: how many different documents, paragraphs or lines to expect [default: 10000000]"),
)
resource_options = _group(
    click.option("--workers", type=int, help="Threads; the result does not depend on them. [default: one per core]"),
    click.option("--memory", default="4G", show_default=True, help="Budget; beyond it working files beside the output are used."),
)
engine_option = click.option(
    "--engine", type=click.Choice(["local", "spark"]), default="local", show_default=True, help="Where the work is done."
)
engine_options = _group(
    engine_option,
    click.option("--work", help="spark: a folder that all machines reach, for what is kept between rounds [default: beside the output]"),
    click.option("--per", help="spark: compare documents of the same value of this column alone, such as of one dump."),
    click.option("--per-file", is_flag=True, help="spark: a folder in the output for each file of the input."),
    click.option("--cluster-size", help="spark: add a column of this name: how many documents the cluster of a row has."),
)
SPARK_OPTIONS = ("work", "per", "per_file", "cluster_size")


def engine_of(options: dict[str, Any]) -> str | Engine:
    """What the options of ``engine_options`` say; they are taken out."""
    name, given = options.pop("engine"), {each: options.pop(each) for each in SPARK_OPTIONS}
    if name == "spark":
        from lookalike.spark import Engine

        return Engine(**given)
    if said := next((each for each, value in given.items() if value), None):
        raise InputError(f"--{said.replace('_', '-')} is for --engine spark: leave it out")
    return "local"
