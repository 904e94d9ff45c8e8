"""``lookalike plan``"""

from __future__ import annotations

from typing import Any

import click

import lookalike
from lookalike.cli.options import json_option, method_option, note, print_json, print_table, quiet_option, working
from lookalike.figures import shown_share


@click.command("plan")
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
@method_option
@click.option("--threshold", type=float, help="The least similarity of a duplicate: Jaccard [default: 0.8], of meaning the cosine [0.9]")
@click.option("--model", help="meaning: the model whose vectors are compared [default: use-multilingual]")
@click.option("--distance", type=int, default=3, show_default=True, help="simhash: the most bits that differ in a duplicate.")
@click.option("--text-column", default="text", show_default=True, help="Column of the text.")
@click.option("--id-column", default="id", show_default=True, help="Column of the id.")
@click.option("--format", "format_", help="Format of the inputs [default: from their names; standard input: jsonl]")
@click.option("--encoding", help="Encoding of the inputs [default: UTF-8 for tables, found out for texts]")
@click.option("--extract", type=click.Choice(["main", "all"]), default="main", show_default=True, help="Text of web pages: main or all.")
@click.option("--recipe", default="default", show_default=True, help="How texts become features.")
@click.option("--workers", type=int, default=1, show_default=True, help="Threads that the run would have.")
@click.option("--memory", default="4G", show_default=True, help="Budget that the run would have.")
@click.option("--sample", type=int, default=10_000, show_default=True, help="Documents to read.")
@json_option
@quiet_option
def command(inputs: tuple[str, ...], as_json: bool, quiet: bool, **options: Any) -> None:
    """What a dedupe would cost and find, from a sample: memory, time, pairs to compare, and recall.

    Nothing is written. Times are those of this machine at this moment.
    """
    with working("reading a sample …", quiet):
        found = lookalike.plan(list(inputs), format=options.pop("format_"), **options)
    if as_json:
        print_json(found.to_dict())
        return
    banding = found.settings.banding
    rows = [
        ("documents", f"{found.documents:,}", f"{found.sampled:,} of them were read"),
        ("input", _size(found.bytes), ""),
        ("memory", _size(found.memory), f"of which {_size(found.disk)} would go to disk" if found.disk else "within the budget"),
        ("time", f"{found.seconds:,.0f} s", ""),
        ("pairs to compare", f"{found.pairs[0]:,}", f"up to {found.pairs[1]:,}"),
    ]
    if banding.bands:
        shown = ", ".join(f"{shown_share(share, 2)} at {similarity:g}" for similarity, share in list(found.recall.items())[:3])
        rows.append(("recall", shown_share(found.recall[found.settings.threshold], 2), f"{banding.bands} bands of {banding.rows}: {shown}"))
    print_table(("", "", ""), rows, right=(1,))
    for warning in found.warnings:
        note(warning, quiet)


def _size(size: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:,.0f} {unit}" if unit in ("B", "KiB") else f"{size:,.1f} {unit}"
        size /= 1024
    return f"{size:,.1f} TiB"
