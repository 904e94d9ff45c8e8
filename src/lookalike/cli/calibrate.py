"""``lookalike calibrate``"""

from __future__ import annotations

from pathlib import Path

import click

import lookalike
from lookalike.cli.inputs import standard_input
from lookalike.cli.options import form_option, forms_of, json_option, print_json, print_table, say
from lookalike.figures import counted, shown_score


@click.command("calibrate")
@click.argument("pairs", metavar="PAIRS")
@click.option("--measure", default="score", show_default=True, help="What the threshold is of: score, or the name of a measure.")
@click.option("--precision", type=float, default=None, help="The lowest threshold with this precision [default: the best F1]")
@click.option("--positive", type=float, default=None, help="Of graded labels the lowest that counts as alike.")
@click.option("--left-column", default="a", show_default=True, help="Column of the first text.")
@click.option("--right-column", default="b", show_default=True, help="Column of the second text.")
@click.option("--label-column", default="label", show_default=True, help="Column of the label: true or false, 1 or 0, or a grade.")
@form_option("invisible,script")
@click.option("--model", default=None, metavar="MODEL", help="What computes meaning or hybrid: a name, a folder, module:function.")
@click.option("--encoding", default="utf-8", show_default=True, help="Encoding of JSON lines and CSV.")
@json_option
def command(
    pairs: str,
    measure: str,
    precision: float | None,
    positive: float | None,
    left_column: str,
    right_column: str,
    label_column: str,
    ignore_form: str | None,
    model: str | None,
    encoding: str,
    as_json: bool,
) -> None:
    """The threshold that fits your own labelled pairs, with its precision and recall.

    PAIRS has two texts and a label per line: JSON lines, CSV or Parquet ('-' is standard input).
    """
    found = lookalike.calibrate(
        standard_input() if pairs == "-" else Path(pairs),
        measure=measure,
        precision=precision,
        positive=positive,
        left_column=left_column,
        right_column=right_column,
        label_column=label_column,
        ignore_form=forms_of(ignore_form),
        model=model,
        encoding=encoding,
    )
    if as_json:
        print_json(found.to_dict())
        return
    say(f"threshold {found.threshold:.4f} for {found.measure}, from {counted(found.pairs, 'pair')}, {found.positives:,} alike", bold=True)
    rows = [
        ("threshold", f"{found.threshold:.4f}", _interval(found.threshold_interval), ""),
        ("precision", shown_score(found.precision), _interval(found.precision_interval), _held_out(found.held_out, "precision")),
        ("recall", shown_score(found.recall), _interval(found.recall_interval), _held_out(found.held_out, "recall")),
        ("F1", shown_score(found.f1), "", ""),
        ("AUC", shown_score(found.auc), "", ""),
    ]
    print_table(("", "value", "95 %", "held out"), rows, right=(1, 3))
    for line in found.notes:
        say(f"note: {line}", dim=True)


def _interval(interval: tuple[float, float]) -> str:
    return f"{interval[0]:.4f} to {interval[1]:.4f}"


def _held_out(found: dict[str, float], name: str) -> str:
    return shown_score(found[name]) if name in found else ""
