"""The options that ``dedupe`` and ``plan`` share, in the groups of ``lookalike.deduping.settings``."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
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
resource_options = _group(
    click.option("--workers", type=int, help="Threads; the result does not depend on them. [default: one per core]"),
    click.option("--memory", default="4G", show_default=True, help="Budget; beyond it working files beside the output are used."),
)
engine_options = _group(
    click.option("--engine", type=click.Choice(["local", "spark"]), default="local", show_default=True, help="Where the work is done."),
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
