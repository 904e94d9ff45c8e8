"""``lookalike dedupe --bloom``"""

from __future__ import annotations

from typing import Any

import click

import lookalike
from lookalike.cli.options import note, print_json, say
from lookalike.cli.progress import ProblemNotes, StageCounter
from lookalike.errors import InputError

TAKEN = ("bloom", "capacity", "out", "level", "method", "text_column", "id_column", "format", "recipe", "on_error")
SHOWN = ("inputs", "as_json", "quiet", "engine")  # of the verb itself


def stream(inputs: tuple[str, ...], as_json: bool, quiet: bool, options: dict[str, Any]) -> None:
    """Runs a stream. Options that say something else than their default, and that a stream cannot do, are refused."""
    context = click.get_current_context()
    for name in options:
        given = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if given and name not in TAKEN and name not in SHOWN:
            why = "the filter cannot name the original of a copy" if name in ("removed", "html", "annotate") else "a stream is read once"
            raise InputError(f"--{name.replace('_', '-')} does not go together with --bloom: {why}; leave one of them out")
    if options["out"] is None:
        raise InputError("--bloom writes as it reads: name --out, or '-' for standard output")
    wanted = {name: options[name] for name in TAKEN if options[name] is not None}
    if wanted["method"] == "minhash":  # the default, which nobody chose
        wanted["method"] = "exact"
    with StageCounter(quiet) as progress:
        notes = ProblemNotes(progress, quiet)
        report = lookalike.dedupe_stream(list(inputs), on_problem=notes, progress=progress.stage, **wanted)
        notes.finish()
    to_terminal = options["out"] == "-"
    if report.rate > report.stated_rate:
        note(f"the stream had more than --capacity {report.capacity:,}: something new now goes at a rate of {report.rate:.2g}", quiet)
    if as_json and to_terminal:
        note("--json is not printed, because standard output holds the documents", False)
    elif as_json:
        print_json(report.to_dict())
    elif to_terminal:
        note(report.headline(), quiet)
    else:
        say(report.headline(), bold=True)
        megabytes = report.filter.nbytes / 1e6
        say(f"{report.seconds:.1f} s · filter of {megabytes:,.0f} MB · something new goes at a rate of {report.rate:.2g} at most")
        say("A Bloom filter cannot name the original of what was removed.")
