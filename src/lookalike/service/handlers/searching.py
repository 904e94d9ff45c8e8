"""Searches and clusters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from lookalike.errors import InputError
from lookalike.fingerprints.record import RecordPrint, record
from lookalike.markup.page import page
from lookalike.service import shapes
from lookalike.service.exchange import Answer, Call, TooLarge
from lookalike.service.filters import parsed_where
from lookalike.stores.settings import FIELD_RULES

if TYPE_CHECKING:
    from lookalike.index.index import Index
    from lookalike.service.app import Service
    from lookalike.stores.matches import Match, Matches

CHEAP = ("near", "simhash")  # what takes a fraction of a millisecond, if the text is short
CHEAP_CHARACTERS = 20_000
MOST_MATCHES = 10_000  # of one query, however often one asks for the next


async def search(service: Service, call: Call) -> Answer:
    asked = await call.read(shapes.SearchRequest)
    work = _prepared(service, call, asked)
    return Answer.json(await (service.lanes.cheap if _is_cheap(asked) else service.lanes.heavy)(work))


def search_at_once(service: Service, call: Call, body: bytes) -> Answer | None:
    asked = call.read_at_once(body, shapes.SearchRequest)
    return None if asked is None or not _is_cheap(asked) else Answer.json(_prepared(service, call, asked)())


def _is_cheap(asked: shapes.SearchRequest) -> bool:
    if asked.compare or asked.threshold == 0 or (asked.text is not UNSET and len(asked.text) > CHEAP_CHARACTERS):
        return False
    by = asked.by if asked.by is not UNSET else "simhash" if asked.simhash is not UNSET else "near" if asked.text is not UNSET else ""
    return by in CHEAP


def _prepared(service: Service, call: Call, asked: shapes.SearchRequest) -> Callable[[], dict[str, Any]]:
    """The search, ready to be done wherever it should be."""
    given = {name: value for name in ("text", "simhash", "record", "vector") if (value := getattr(asked, name)) is not UNSET}
    if len(given) != 1:
        raise InputError("give one thing to look for: text, simhash, record or vector")
    if "record" not in given and (asked.weights is not UNSET or asked.measures is not UNSET):
        raise InputError("weights and measures are of the fields of a record: leave them out")
    text = asked.text if isinstance(asked.text, str) else None
    if text is not None:
        _check_length(text, call)
    index = service.shelf.get(call.collection)
    options = _options(asked) | {"compare": asked.compare, "approximate": asked.approximate}
    if asked.min_share is not UNSET:
        options["min_share"] = asked.min_share

    def work() -> dict[str, Any]:
        if "simhash" in given:
            found = index.search(simhash=number_of(given["simhash"]), **options)
        elif "vector" in given:
            found = index.search(vector=given["vector"], **options)
        else:
            found = index.search(_thing(text, asked.as_) if text is not None else _record(index, asked, given["record"]), **options)
        matches = found[asked.offset :] if asked.offset else found
        texts = _texts(index, matches) if asked.with_text else {}
        rows = [_row(match, asked.passages) | ({"text": texts.get(match.id)} if asked.with_text else {}) for match in matches]
        return {"matches": rows, "total": found.total, "scale": found.scale, "notes": found.notes, "next": _next(asked, len(rows), found)}

    return work


def _options(asked: shapes.SearchRequest | shapes.SearchBatchRequest) -> dict[str, Any]:
    options: dict[str, Any] = {"k": asked.k, "limit": min(asked.limit + asked.offset, MOST_MATCHES)}
    if asked.by is not UNSET:
        options["by"] = asked.by
    if asked.threshold is not UNSET:
        options["threshold"] = asked.threshold
    if asked.where is not UNSET:
        options["where"] = parsed_where(asked.where)
    return options


def _check_length(text: str, call: Call) -> None:
    if len(text) > call.limits.text:
        raise TooLarge(f"the text has {len(text)} characters, and {call.limits.text} are allowed")


def _thing(text: str, what: str) -> Any:
    return page(text) if what == "page" else text


def _record(index: Index, asked: shapes.SearchRequest, data: dict[str, Any]) -> Mapping[str, Any] | RecordPrint:
    """The record, with weights and measures of its own if they were given."""
    own = {name: value for name in FIELD_RULES if (value := getattr(asked, name)) is not UNSET}
    if not own:
        return data
    rules = {name: index.settings.get(name, {}) for name in FIELD_RULES}
    return record(data, **(rules | own))


def _next(asked: shapes.SearchRequest | shapes.SearchBatchRequest, rows: int, found: Matches) -> int | None:
    """Where the next page of matches begins."""
    following = asked.offset + rows
    return following if rows and found.total > following else None


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
    given = {name: value for name in ("texts", "simhashes", "records") if (value := getattr(asked, name)) is not UNSET}
    if len(given) != 1:
        raise InputError("give texts, simhashes or records, one of the three")
    (name, things), *_ = given.items()
    if name == "texts":
        for text in things:
            _check_length(text, call)
    index, options = service.shelf.get(call.collection), _options(asked)
    work = _many_simhashes if name == "simhashes" else _many
    return Answer.json(await service.lanes.heavy(lambda: work(index, asked, things, options)))


def _many(index: Index, asked: shapes.SearchBatchRequest, things: list[Any], options: dict[str, Any]) -> dict[str, Any]:
    if asked.texts is not UNSET and asked.as_ == "text" and options.get("by", "near") == "near":
        found = index.search_texts(things, **{name: value for name, value in options.items() if name not in ("k", "by")})
    else:
        found = [index.search(_thing(each, asked.as_) if isinstance(each, str) else each, **options) for each in things]
    answers = [[_row(match, asked.passages) for match in matches[asked.offset :]] for matches in found]
    return {"answers": answers, "next": [_next(asked, len(rows), matches) for rows, matches in zip(answers, found, strict=True)]}


def _many_simhashes(index: Index, asked: shapes.SearchBatchRequest, values: list[Any], options: dict[str, Any]) -> dict[str, Any]:
    if options.get("by", "simhash") != "simhash":
        raise InputError(f"by={options['by']!r:.40}: SimHashes are searched by simhash: leave it out")
    most = options["limit"]
    found = index.search_simhashes([number_of(each) for each in values], asked.k, limit=most + 1, where=options.get("where"))
    edges, bits = found.offsets.tolist(), index.settings["bits"]
    rows = [{"id": id_, "distance": far, "score": 1 - far / bits} for id_, far in zip(found.ids, found.distances.tolist(), strict=True)]
    several = [rows[first:last] for first, last in pairwise(edges)]
    return {
        "answers": [each[asked.offset : most] for each in several],
        "next": [most if len(each) > most else None for each in several],
    }


async def clusters(service: Service, call: Call) -> Answer:
    index = service.shelf.get(call.collection)
    options: dict[str, Any] = {"threshold": call.number("threshold")}
    if "where" in call.query:
        options["where"] = parsed_where(call.query["where"])
    found = await service.lanes.heavy(lambda: index.clusters(call.query.get("by", "near"), **options))
    return Answer.json({"clusters": [each.to_dict() for each in found], "notes": found.notes})
