"""``lookalike idf``"""

from __future__ import annotations

from pathlib import Path

import click

import lookalike
from lookalike.cli.options import answer_options, print_json, working
from lookalike.corpus.writing import check_outputs
from lookalike.errors import InputError
from lookalike.figures import counted


@click.command("idf")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Where the table goes.")
@click.option("--tokenizer", default="jieba", show_default=True, help="How texts become words.")
@click.option("--lines", is_flag=True, help="Every line of a FILE is a document of its own.")
@answer_options
def command(files: tuple[str, ...], out: Path, tokenizer: str, lines: bool, as_json: bool, quiet: bool) -> None:
    """Learn an IDF table from text FILEs, for recipes with weights='tfidf'."""
    check_outputs(files, out=out)
    with working(f"learning from {counted(len(files), 'file')}", quiet):
        table = lookalike.learn_idf((Path(name) for name in files), tokenizer=tokenizer, lines=lines)
    if not table.values:
        raise InputError("no words were found: check the files and the tokenizer")
    table.save(out)
    if as_json:
        print_json({"documents": table.documents, "words": len(table.values), "out": str(out), "id": table.id})
    else:
        click.echo(f"{counted(len(table.values), 'word')} of {counted(table.documents, 'document')} → {out}")
