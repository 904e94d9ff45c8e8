"""``lookalike plan``"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import lookalike
from lookalike.cli.dedupe_options import engine_option, input_options, method_options, resource_options
from lookalike.cli.options import answer_options, note, print_json, print_table, working
from lookalike.figures import shown_share

if TYPE_CHECKING:
    from lookalike import Plan


@click.command("plan")
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
@method_options
@input_options
@resource_options
@engine_option
@click.option("--documents", type=int, help="spark: how many documents the whole corpus has [default: as estimated from the inputs]")
@click.option("--sample", type=int, default=10_000, show_default=True, help="Documents to read.")
@answer_options
def command(inputs: tuple[str, ...], as_json: bool, quiet: bool, **options: Any) -> None:
    """What a dedupe would cost and find, from a sample: memory, time, pairs to compare, and recall.

    Nothing is written. Times are those of this machine at this moment.
    """
    with working("reading a sample …", quiet):
        found = lookalike.plan(list(inputs), **options)
    if as_json:
        print_json(found.to_dict())
        return
    if found.spark is not None:
        _show_spark(found, quiet)
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
    for length, share in found.edited.items():
        rows.append(
            (
                f"recall, {length} characters",
                shown_share(share, 0),
                f"of copies with another head and 1 % other words, at {found.settings.distance} bits",
            )
        )
    print_table(("", "", ""), rows, right=(1,))
    for warning in found.warnings:
        note(warning, quiet)


def _show_spark(found: Plan, quiet: bool) -> None:
    on = found.spark
    if on is None:
        return
    rows = [
        ("documents", f"{on.documents:,}", f"{found.sampled:,} of them were read"),
        ("shuffled", _size(on.shuffled), f"{_size(on.texts)} of it texts of candidates"),
        ("kept between rounds", _size(on.kept_between), "in the folder of --work"),
        ("tasks of a stage", f"{on.tasks:,}", f"{_size(on.task_memory)} of memory each"),
        ("driver", _size(on.driver_memory), ""),
        ("core-hours", f"{on.core_hours:,.2f}", "an estimate, see docs/scale.md; plan for twice as much"),
    ]
    print_table(("", "", ""), rows, right=(1,))
    for warning in found.warnings:
        note(warning, quiet)


def _size(size: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:,.0f} {unit}" if unit in ("B", "KiB") else f"{size:,.1f} {unit}"
        size /= 1024
    return f"{size:,.1f} TiB"
