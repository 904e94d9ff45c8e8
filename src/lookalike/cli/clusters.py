"""``lookalike clusters``"""

from __future__ import annotations

import click

from lookalike.cli.options import answer_options, note, print_json, print_table, say
from lookalike.cli.progress import Counter
from lookalike.cli.stores import Ways, collection_option, existing, store_argument, where_option
from lookalike.errors import InputError
from lookalike.figures import counted, shown_score

SHOWN = 20
EXAMPLES = 3


@click.command("clusters")
@store_argument
@click.option("--by", type=Ways(of_clusters=True), default="near", show_default=True, help="What to compare.")
@click.option(
    "--threshold", type=float, default=None, help="The least similarity, not with simhash [default: the collection's, with meaning 0.9]"
)
@click.option("--k", type=int, default=None, help="With --by simhash: how many bits may differ [default: 3]")
@click.option("--limit", type=int, default=None, help="At most so many, the largest first [default: 20, with --json all]")
@where_option
@collection_option
@answer_options
def command(
    store: str,
    by: str,
    threshold: float | None,
    k: int | None,
    limit: int | None,
    where: str | None,
    collection: str,
    as_json: bool,
    quiet: bool,
) -> None:
    """Documents of STORE that look alike, in clusters: each was compared with the oldest one, which is named first.

    --by near: texts that are alike as a whole; simhash: whose SimHash differs in up to --k bits; meaning: that say the
    same, in whatever words; structure: web pages of one template; record: records that are alike in their fields.
    Documents that look like no other are in no cluster.
    """
    if by == "simhash" and threshold is not None:
        raise InputError("--threshold belongs to --by near, meaning, structure and record: with --by simhash give --k")
    if by != "simhash" and k is not None:
        raise InputError(f"--k belongs to --by simhash: with --by {by} give --threshold")
    if limit is not None and limit < 1:
        raise InputError(f"--limit {limit}: give the largest number of clusters, 1 or more")
    with existing(store, collection) as index, Counter(quiet, "documents") as progress:
        found = index.clusters(by, threshold=threshold, k=3 if k is None else k, progress=progress.at, where=where)
    for each in found.notes:
        note(each, quiet)
    found.sort(key=lambda cluster: -len(cluster.removed))  # stable: of equal ones the oldest first
    documents = sum(1 + len(cluster.removed) for cluster in found)
    shown = found[: limit or (len(found) if as_json else SHOWN)]
    if as_json:
        print_json([cluster.to_dict() for cluster in shown])
        return
    if not found:
        say("no two documents look alike")
        return
    say(f"{counted(len(found), 'cluster')} of {counted(documents, 'document')}", bold=True)
    rows = []
    for cluster in shown:
        members = [str(member.id) for member in cluster.removed]
        more = f" and {len(members) - EXAMPLES:,} more" if len(members) > EXAMPLES else ""
        least = min(member.similarity for member in cluster.removed)
        rows.append((str(cluster.kept), f"{1 + len(members):,}", shown_score(least), ", ".join(members[:EXAMPLES]) + more))
    print_table(("oldest", "documents", f"{found[0].scale} from", "others"), rows, right=(1, 2))
    if len(shown) < len(found):
        note(f"the largest {len(shown):,} of {len(found):,} clusters are shown (--limit)", quiet)
