"""All documents of a collection against all."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from lookalike.corpus.row import Problem
from lookalike.errors import InputError
from lookalike.pairing.inputs import things_of
from lookalike.pairing.pairs import pairs_of
from lookalike.pairing.report import PairsReport
from lookalike.pairing.things import Thing
from lookalike.service import shapes
from lookalike.service.exchange import Answer, Call, TooLarge
from lookalike.service.filters import parsed_where

if TYPE_CHECKING:
    from lookalike.index.index import Index
    from lookalike.service.app import Service

MOST_COMMON = 50  # passages that many share, and characters of each
MOST_COMMON_TEXT = 300


async def pairs(service: Service, call: Call) -> Answer:
    asked = await call.read(shapes.PairsRequest)
    index = service.shelf.get(call.collection)
    given = {name: value for name in ("min_length", "common") if (value := getattr(asked, name)) is not UNSET}
    options: dict[str, Any] = given | {name: getattr(asked, name) for name in ("threshold", "min_surprise", "limit", "ignore", "leave_out")}
    language = asked.language if isinstance(asked.language, str) else None
    if sum(map(len, asked.ignore)) > call.limits.text:
        raise TooLarge(f"ignore has more than {call.limits.text} characters")

    def work() -> Answer:
        problems: list[Problem] = []
        things, ids = _read(index, asked, language, call.limits.pairs, problems)
        report = pairs_of(things, asked.as_, language=language, problems=problems, **options)
        if asked.format == "html":
            return Answer(report.to_html(anonymous=asked.anonymous).encode("utf-8", "replace"), kind="text/html; charset=utf-8")
        return Answer.json(_shown(report, ids, asked.passages))

    return await service.lanes.heavy(work)


def _read(
    index: Index, asked: shapes.PairsRequest, language: str | None, most: int, problems: list[Problem]
) -> tuple[list[Thing], dict[str, str | int]]:
    """The documents as things to compare, and their ids by the names of the things: 1 and "1" are two documents."""
    things: list[Thing] = []
    ids: dict[str, str | int] = {}
    characters = 0
    for document in index.documents(where=None if asked.where is UNSET else parsed_where(asked.where)):
        if document.text is None:
            raise InputError(f"the collection keeps no texts ({document.id!r:.80} has none), and pairs are found in texts")
        characters += len(document.text)
        if characters > most:
            raise TooLarge(f"the documents have more than {most} characters: choose some with where, or use 'lookalike pairs STORE'")
        for thing in things_of([document], asked.as_, language, problems.append):
            name = thing.id if thing.id not in ids else f"{thing.id} (2)"
            ids[name] = document.id
            things.append(replace(thing, id=name))
    return things, ids


def _shown(report: PairsReport, ids: dict[str, str | int], passages: bool) -> dict[str, Any]:
    rows = [
        row | {"left": ids[row["left"]], "right": ids[row["right"]], "passages": row["passages"] if passages else []}
        for row in report.to_dicts()
    ]
    texts = {thing.id: thing.parts[0].text for thing in report.things}
    common = [
        {"text": " ".join(texts[each.id][slice(*each.span)][:MOST_COMMON_TEXT].split()), "documents": each.things}
        for each in report.common[:MOST_COMMON]
    ]
    skipped = [f"{each.place}: {each.message}" for each in report.problems[:10]]
    return {"documents": list(ids.values()), "pairs": rows, "total": report.total, "common": common, "notes": report.notes + skipped}
