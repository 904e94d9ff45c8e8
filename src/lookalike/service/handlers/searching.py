"""Searches and clusters."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from lookalike.errors import InputError
from lookalike.markup.page import page
from lookalike.service import shapes
from lookalike.service.exchange import Answer, Call, TooLarge
from lookalike.service.filters import parsed_where

if TYPE_CHECKING:
    from lookalike.index.index import Index
    from lookalike.service.app import Service
    from lookalike.stores.matches import Match

CHEAP = ("near", "simhash")  # what takes a fraction of a millisecond, if the text is short
CHEAP_CHARACTERS = 20_000


async def search(service: Service, call: Call) -> Answer:
    asked = await call.read(shapes.SearchRequest)
    given = {name: value for name in ("text", "simhash", "record") if (value := getattr(asked, name)) is not UNSET}
    if len(given) != 1:
        raise InputError("give one thing to look for: text, simhash or record")
    by = asked.by if isinstance(asked.by, str) else "simhash" if "simhash" in given else "record" if "record" in given else "near"
    text = asked.text if isinstance(asked.text, str) else None
    if text is not None and len(text) > call.limits.text:
        raise TooLarge(f"the text has {len(text)} characters, and {call.limits.text} are allowed")
    index = service.shelf.get(call.collection)
    options: dict[str, Any] = {"by": by, "k": asked.k, "limit": min(asked.limit + asked.offset, 10_000), "compare": asked.compare}
    if asked.threshold is not UNSET:
        options["threshold"] = asked.threshold
    if asked.where is not UNSET:
        options["where"] = parsed_where(asked.where)

    def work() -> bytes | dict[str, Any]:
        if "simhash" in given:
            found = index.search(simhash=number_of(given["simhash"]), **options)
        elif "record" in given:
            found = index.search(given["record"], **options)
        else:
            found = index.search(page(text) if asked.as_ == "page" and text is not None else text, **options)
        matches = found[asked.offset :]
        texts = _texts(index, matches) if asked.with_text else {}
        rows = [_row(match, asked.passages) | ({"text": texts.get(match.id)} if asked.with_text else {}) for match in matches]
        following = asked.offset + len(rows)
        return {
            "matches": rows,
            "total": found.total,
            "scale": found.scale,
            "notes": found.notes,
            "next": following if found.total > following and rows else None,
        }

    cheap = by in CHEAP and not asked.compare and (text is None or len(text) <= CHEAP_CHARACTERS) and options.get("threshold") != 0
    return Answer.json(await (service.lanes.cheap if cheap else service.lanes.heavy)(work))


def _row(match: Match, passages: bool) -> dict[str, Any]:
    if passages:
        return match.to_dict()
    found: dict[str, Any] = {
        "id": match.id,
        "score": match.score,
        "scale": match.scale,
        "distance": match.distance,
        "passages": [],
        "meta": match.meta,
    }
    return found if match.compared is None else found | {"compared": match.compared}


def _texts(index: Index, matches: list[Match]) -> dict[Any, str | None]:
    return {document.id: document.text for document in index.documents([match.id for match in matches])}


def number_of(simhash: object) -> int:
    try:
        return int(simhash, 16 if simhash.lower().startswith("0x") else 10) if isinstance(simhash, str) else int(simhash)  # type: ignore[call-overload]  # the shape allows int and str
    except ValueError:
        raise InputError(f"simhash={str(simhash)[:40]!r}: give a number, or a text such as 0xa7f48284b51a46bd") from None


async def batch(service: Service, call: Call) -> Answer:
    asked = await call.read(shapes.SearchBatchRequest)
    if (asked.texts is UNSET) == (asked.simhashes is UNSET):
        raise InputError("give texts or simhashes, one of the two")
    index = service.shelf.get(call.collection)
    threshold = None if asked.threshold is UNSET else asked.threshold

    def texts() -> list[list[dict[str, Any]]]:
        assert not isinstance(asked.texts, type(UNSET))  # noqa: S101 (says it to the type checker)
        found = index.search_texts(asked.texts, threshold=threshold, limit=asked.limit)
        return [[_row(match, asked.passages) for match in matches] for matches in found]

    def simhashes() -> list[list[dict[str, Any]]]:
        assert not isinstance(asked.simhashes, type(UNSET))  # noqa: S101
        found = index.search_simhashes([number_of(each) for each in asked.simhashes], asked.k, limit=asked.limit)
        edges, bits = found.offsets.tolist(), index.settings["bits"]
        rows = [{"id": id_, "distance": far, "score": 1 - far / bits} for id_, far in zip(found.ids, found.distances.tolist(), strict=True)]
        return [rows[first:last] for first, last in pairwise(edges)]

    return Answer.json({"answers": await service.lanes.heavy(texts if asked.simhashes is UNSET else simhashes)})


async def clusters(service: Service, call: Call) -> Answer:
    index = service.shelf.get(call.collection)
    options: dict[str, Any] = {"threshold": call.number("threshold")}
    if "where" in call.query:
        options["where"] = parsed_where(call.query["where"])
    found = await service.lanes.heavy(lambda: index.clusters(call.query.get("by", "near"), **options))
    return Answer.json({"clusters": [each.to_dict() for each in found], "notes": found.notes})
