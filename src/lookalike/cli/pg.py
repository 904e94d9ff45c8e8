"""``lookalike pg``"""

from __future__ import annotations

import click

import lookalike
from lookalike.cli.options import answer_options, print_facts, print_json, working


@click.command("pg")
@click.argument("action", type=click.Choice(["index", "drop"]))
@click.argument("url", metavar="URL")
@click.argument("name", metavar="TABLE|COLLECTION")
@click.option("--column", help="index: the column that is searched.")
@click.option("--key", help="index: the column that names a row: whole numbers, uuids or texts.")
@click.option(
    "--kind",
    type=click.Choice(["simhash", "minhash", "text"]),
    default="simhash",
    show_default=True,
    help="index: what the column holds.",
)
@click.option("--collection", help="index: what the collection is called [default: like the table]")
@click.option("--threshold", type=float, default=0.8, show_default=True, help="index: from which similarity on minhash and text find rows.")
@click.option("--recipe", help="index: the recipe that the SimHashes were made with (see 'lookalike info').")
@answer_options
def command(
    action: str,
    url: str,
    name: str,
    column: str | None,
    key: str | None,
    kind: str,
    collection: str | None,
    threshold: float,
    recipe: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Index a table of your own, or drop a collection.

    A collection on a table is a few indexes: it is current with every change of the table, and nothing is copied. 'drop' drops any
    collection; of one on a table, the table stays as it is.
    """
    if action == "drop":
        facts = {"collection": name, "dropped": lookalike.index.drop_collection(url, name)}
    else:
        if column is None or key is None:
            raise click.UsageError("index needs --column and --key.")
        with working(f"indexing {name}", quiet):
            made = lookalike.index.index_table(
                url, name, column=column, key=key, kind=kind, collection=collection, threshold=threshold, recipe=recipe
            )
        facts = made._asdict()
    if as_json:
        print_json(facts)
    else:
        print_facts(facts)
