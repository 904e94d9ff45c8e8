"""``lookalike scan``"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

import lookalike
from lookalike.cli.options import answer_options, note, print_json, print_table, say
from lookalike.cli.progress import Counter
from lookalike.corpus.writing import check_reports, write_file
from lookalike.errors import InputError
from lookalike.figures import counted, shown_share

if TYPE_CHECKING:
    from lookalike import ScanReport

SHOWN = 20  # families on the terminal


@click.command("scan")
@click.argument("folder", metavar="FOLDER")
@click.option("--store", default=None, metavar="S", help="Keep everything in this store: the next scan reads only what changed.")
@click.option("--threshold", type=float, default=0.8, show_default=True, help="From this similarity of texts on, files are near-copies.")
@click.option(
    "--labels", default=None, metavar="PATH", help="Labelled examples: a folder for each label, or JSON lines with text and label."
)
@click.option("--patterns", default=None, metavar="TOML", help="Patterns of your own for the profiles: a table [patterns].")
@click.option("--profiles", default=None, metavar="OUT", help="Write the profile of each file to this file, as JSON lines (needs --store).")
@click.option("--html", "page", default=None, metavar="OUT", help="Write a page that shows everything, in one file.")
@click.option(
    "--model",
    default=None,
    metavar="MODEL",
    help="Model of a new store, to search by meaning: a name such as use-multilingual, or a folder.",
)
@click.option("--workers", type=int, default=None, help="Files that are read at a time [default: as many as there are processors]")
@answer_options
def command(
    folder: str,
    store: str | None,
    threshold: float,
    labels: str | None,
    patterns: str | None,
    profiles: str | None,
    page: str | None,
    model: str | None,
    workers: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Read all files in FOLDER, and say which are copies, other formats, near-copies or versions of each other.

    PDF, Office and OpenDocument files, mail, archives, web pages and texts are compared by what they say; of files without text (images,
    scans, encrypted files) the bytes are compared. With --store the result can be searched: lookalike search S some.pdf
    """
    check_reports([each for each in (folder, labels, patterns) if each], {"--html": page, "--profiles": profiles})
    if profiles and not store:
        raise InputError("--profiles are those of a store: add --store S")
    if model and not store:
        raise InputError("--model is that of a store: add --store S")
    with Counter(quiet, "files") as shown:
        report = lookalike.scan(
            folder,
            store=store,
            threshold=threshold,
            labels=labels,
            patterns=patterns,
            workers=workers,
            model=model,
            progress=lambda done, _: shown.at(done),
        )
    if page:
        write_file(page, report.to_html())
        note(f"wrote {page}", quiet)
    if profiles and store:
        _write_profiles(store, profiles)
        note(f"wrote {profiles}", quiet)
    if as_json:
        print_json(report.to_dict())
    else:
        _show(report)


def _write_profiles(store: str, name: str) -> None:
    with lookalike.open(store, read_only=True, create=False) as index:
        profiles = ((id_, meta.get("profile")) for id_, meta in index.metas())
        # What is no scan's may have a field of this name.
        lines = [json.dumps({"id": id_, **profile}, ensure_ascii=False) for id_, profile in profiles if isinstance(profile, dict)]
    write_file(name, "".join(f"{line}\n" for line in lines))


def _show(report: ScanReport) -> None:
    files = report.read + report.unchanged
    inside = f" with {counted(report.files, 'document')}" if report.files > files else ""  # in archives
    say(f"{counted(files, 'file')}{inside}: {report.read:,} read, {report.unchanged:,} unchanged, {report.removed:,} gone", bold=True)
    for family in report.families[:SHOWN]:
        say()
        rows = []
        for entry in family.files:
            relation, other, similarity = family.relations.get(entry.id, ("", "", 1.0))
            said = f"{relation} of {other}" if relation and "copy" in relation else f"{relation}: {other}" if relation else ""
            rows.append((entry.id, entry.modified, said, shown_share(similarity) if relation else ""))
        print_table(("file", "modified", "", ""), rows, right=(3,))
        for group in family.versions:
            say(f"versions, the newest last: {' → '.join(group)}")
    if len(report.families) > SHOWN:
        say(f"… and {len(report.families) - SHOWN} more families (--json, --html)")
    if not report.families:
        say("no two of them belong together")
    if report.skipped:
        say()
        without = [(each["id"], each["kind"], each["status"], each["note"]) for each in report.skipped[:SHOWN]]
        print_table(("without text", "kind", "status", "why"), without)
        if len(report.skipped) > SHOWN:
            say(f"… and {len(report.skipped) - SHOWN} more (--json, --html)")
