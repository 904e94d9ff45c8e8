"""``la.pairs``: all pairs of a folder that share passages, ranked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from lookalike.checks import check_callback, check_choice, check_int, check_several, check_share, is_number, refuse
from lookalike.corpus.row import Problem
from lookalike.errors import InputError
from lookalike.figures import counted
from lookalike.pairing.alike import alike_pairs
from lookalike.pairing.columns import COMMON, COUNTED, IGNORED, LEFT_OUT, TokenColumns, read_columns
from lookalike.pairing.grams import (
    TEMPLATE_TOKENS,
    TEMPLATE_TOKENS_OF_CODE,
    CommonStretch,
    Grams,
    common_bound,
    drop_common,
    drop_templates,
)
from lookalike.pairing.inputs import GROUPS, read_templates, read_things
from lookalike.pairing.leaving_out import check_parts
from lookalike.pairing.ranking import EqualThings, RankedPair, found_pairs, shown_pair
from lookalike.pairing.report import CommonPassage, PairsReport
from lookalike.pairing.runs import find_runs
from lookalike.pairing.surprise import Surprise
from lookalike.pairing.things import Thing, ThingPart

KINDS = ("text", "code", "page", "record")
MIN_LENGTH = {"text": 8, "page": 8, "code": 12}  # tokens of the shortest passage
LIMIT = 10_000  # pairs that are given out
MIN_SURPRISE = 20.0  # bits: less than one such accident in a million classes like this one
MOST_LENGTH = 1000
_STATES = {IGNORED: "ignored", LEFT_OUT: "left out", COMMON: "common"}


def pairs(
    inputs: str | Path | Sequence[str | Path],
    *,
    kind: str = "text",
    language: str | None = None,
    ignore: Iterable[str | Path] | None = None,
    leave_out: Iterable[str] | None = None,
    common: int | None = None,
    threshold: float | None = None,
    min_length: int | None = None,
    min_surprise: float = MIN_SURPRISE,
    group_by: str = "auto",
    limit: int = LIMIT,
    text_column: str = "text",
    id_column: str = "id",
    collection: str = "default",
    on_problem: Callable[[Problem], object] | None = None,
    progress: Callable[[int], object] | None = None,
) -> PairsReport:
    """All pairs of documents that share passages, the most alike first, without comparing each with each.

    ``inputs`` are files, folders, patterns and archives, or one store that keeps texts. With ``group_by="folder"`` all files of a folder or
    archive below the input are one submission; "auto" does so where no file stands outside of one. ``kind``: "text", "code" (names,
    literals, comments and layout do not count; the ``language`` by the name of each file, if none is given), "page" (web pages: their
    main text and their structure) or "record" (rows of tables: how alike their fields are).

    A passage is a run of at least ``min_length`` tokens that two have in common, and that is no accident: its surprise in bits reaches
    ``min_surprise`` (docs/pairs.md). The score is the share of both that lies inside of shared passages. ``threshold`` is the least score
    (0 by default, so that every passage counts; of records and of the structure of pages .8). What does not count: runs that stand in
    texts or files of ``ignore``, passages that more than ``common`` have (by default half of them, at least 3 and at most 10, or 1 % of
    many), and what ``leave_out`` names: "quotes", "references". ``limit`` is the largest number of pairs given out; ``total`` counts all.
    """
    settings = _checked(kind, common, threshold, min_length, min_surprise, group_by, limit)
    check_callback("on_problem", on_problem)
    check_callback("progress", progress)
    parts = check_parts(leave_out)
    if ignore is not None:
        ignore = list(check_several("ignore", ignore, "a list of texts or files"))
    if kind == "record" and (ignore or parts):
        raise InputError("ignore and leave_out are for texts, and records have none: leave them out")
    templates = read_templates(ignore, kind, language)
    problems: list[Problem] = []

    def report(problem: Problem) -> None:
        problems.append(problem)
        if on_problem:
            on_problem(problem)

    columns = {"text_column": text_column, "id_column": id_column}
    things, grouped = read_things(
        inputs, kind=kind, language=language, group_by=group_by, collection=collection, columns=columns, report=report
    )
    found = compared(kind, things, settings, templates, parts, problems, progress)
    if grouped:
        found.notes.insert(0, f"{counted(len(things), 'submission')} of {counted(sum(len(each.parts) for each in things), 'file')}")
    return found


def pairs_of(
    things: list[Thing],
    kind: str,
    *,
    language: str | None = None,
    ignore: Iterable[str] = (),
    leave_out: Iterable[str] | None = None,
    problems: list[Problem],
    **options: Any,
) -> PairsReport:
    """The same for things that were read already: texts or code."""
    settings = _checked(kind, **{"common": None, "threshold": None, "min_length": None, "min_surprise": MIN_SURPRISE, **options})
    return compared(kind, things, settings, read_templates(list(ignore), kind, language), check_parts(leave_out), problems)


def compared(
    kind: str,
    things: list[Thing],
    settings: dict[str, Any],
    templates: list[ThingPart],
    parts: tuple[str, ...],
    problems: list[Problem],
    progress: Callable[[int], object] | None = None,
) -> PairsReport:
    """All pairs of some things; ``settings`` were checked."""
    started = time.perf_counter()
    if len(things) < 2:
        why = f" ({problems[0].place}: {problems[0].message})" if problems else ""
        raise InputError(f"{counted(len(things), 'document')} to compare: pairs need at least two{why}")
    found = PairsReport(kind, things, [], 0, settings["threshold"], settings, problems=problems)
    if kind != "record":
        _by_passages(found, templates, parts, progress)
    if kind in ("page", "record"):
        alike_pairs(found, settings["limit"])
    found.seconds = time.perf_counter() - started
    return found


def _checked(
    kind: str,
    common: int | None,
    threshold: float | None,
    min_length: int | None,
    min_surprise: float,
    group_by: str = "auto",
    limit: int = LIMIT,
) -> dict[str, Any]:
    check_choice("kind", kind, KINDS)
    check_choice("group_by", group_by, GROUPS)
    check_int("limit", limit, 1, 1_000_000)
    if common is not None:
        check_int("common", common, 1, remedy="give the largest number of documents that may share a passage, 1 or more")
    if not is_number(min_surprise) or not -1e9 < min_surprise < 1e9:
        raise refuse("min_surprise", min_surprise, "give a number of bits")
    least = 0.8 if kind == "record" else 0.0
    return {
        "threshold": least if threshold is None else float(check_share("threshold", threshold)),
        "common": common,
        "min_length": MIN_LENGTH.get(kind, 0) if min_length is None else check_int("min_length", min_length, 2, MOST_LENGTH),
        "min_surprise": float(min_surprise),
        "limit": limit,
    }


def _by_passages(report: PairsReport, templates: list[ThingPart], parts: tuple[str, ...], progress: Callable[[int], object] | None) -> None:
    things, settings = report.things, report.settings
    columns = read_columns([*things, *(Thing(part.name, (part,)) for part in templates)], parts, progress)
    if templates:
        k = TEMPLATE_TOKENS_OF_CODE if report.kind == "code" else TEMPLATE_TOKENS
        columns = drop_templates(columns, len(things), k)
    copies = EqualThings(columns)
    copies.hide(columns)
    bound = settings["common"] or common_bound(len(copies.of))
    settings["common"] = bound
    grams = Grams.of(columns, settings["min_length"])
    common = drop_common(columns, grams, bound)
    report.common = [_common(each, things, columns) for each in sorted(common, key=lambda each: (-each.things, each.start))]
    grams = grams.among(columns)
    surprise = Surprise(columns, grams)
    runs = find_runs(columns, grams, surprise, settings["min_surprise"], bound)
    found = [pair for pair in found_pairs(columns, runs) if pair.score >= settings["threshold"]]
    copies.restore(columns)
    _take(report, found, copies, columns, surprise)
    report.masks = {
        thing.id: sorted((part, span, _STATES[state]) for state in _STATES for part, span in columns.spans(number, state))
        for number, thing in enumerate(things)
    }
    empty = int((columns.sums(columns.state == COUNTED) == 0).sum())
    if empty:
        report.notes.append(f"{counted(empty, 'document')} with nothing to compare")
    if common:
        verb = "does" if len(common) == 1 else "do"
        report.notes.append(f"{counted(len(common), 'passage')} that more than {bound} documents have {verb} not count")


def _take(report: PairsReport, found: list[RankedPair], copies: EqualThings, columns: TokenColumns, surprise: Surprise) -> None:
    """The best pairs; all are counted."""
    report.total = copies.count() + sum(map(copies.times, found))
    edges, tokens = columns.thing_starts, columns.sums(columns.state == COUNTED)
    every = (each for source in (copies.pairs(columns, surprise), *(copies.expanded(pair, edges) for pair in found)) for each in source)
    report.pairs = [shown_pair(each, report.things, columns, tokens) for each in islice(every, report.settings["limit"])]
    if report.total > len(report.pairs):
        report.notes.append(f"the best {len(report.pairs):,} of {report.total:,} pairs are given out (limit)")


def _common(stretch: CommonStretch, things: Sequence[Thing], columns: TokenColumns) -> CommonPassage:
    part = columns.part_at(stretch.start)
    thing = int((columns.part_of <= part).sum()) - 1
    span = int(columns.starts[stretch.start]), int(columns.ends[stretch.end - 1])
    return CommonPassage(things[thing].id, span, stretch.things, part - int(columns.part_of[thing]))
