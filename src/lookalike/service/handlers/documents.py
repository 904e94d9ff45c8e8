"""Documents: one by its id, many as lines, pages of them, and ask-and-add as one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET

from lookalike.errors import InputError, NotFound
from lookalike.service import shapes
from lookalike.service.exchange import Answer, Call, TooLarge
from lookalike.service.filters import documents_after, parsed_where
from lookalike.service.operations import Admit, Put, Remove, WriteFailed
from lookalike.stores.ids import check_id

if TYPE_CHECKING:
    from lookalike.model import Document
    from lookalike.service.app import Service

PAGE = 100  # documents, if nobody says how many
MOST_LOOKED_AT = 20_000  # documents for one page; the next one goes on there
TOGETHER = 256  # lines that are written in one operation
_line = msgspec.json.Decoder(shapes.DocumentLine)


def id_of(call: Call) -> str | int:
    """The id of a path. ``?number`` makes it a whole number; otherwise ``7`` is the text "7"."""
    found: str | int = call.params["id"]
    if "number" in call.query:
        try:
            found = int(found)
        except ValueError:
            raise InputError(f"{str(found)[:40]!r} is not a whole number: leave out ?number") from None
    check_id(found)
    return found


def tag_of(document: Document) -> str:
    """An ETag: the same for the same text and meta."""
    digest = blake2b(msgspec.json.encode((document.text, document.meta), order="deterministic"), digest_size=12)
    return f'"{digest.hexdigest()}"'


async def get(service: Service, call: Call) -> Answer:
    id_ = id_of(call)
    index = service.shelf.get(call.collection)
    try:
        document = await service.lanes.cheap(lambda: index.get(id_))
    except NotFound:
        raise NotFound(f"there is no document {id_!r:.80}") from None
    tag = tag_of(document)
    if call.headers.get("if-none-match") == tag:
        return Answer(status=304, headers={"etag": tag})
    return Answer.json({"id": document.id, "text": document.text, "meta": document.meta}, etag=tag)


async def put(service: Service, call: Call) -> Answer:
    id_ = id_of(call)
    asked = await call.read(shapes.DocumentBody)
    _check(asked.text, call)
    wanted = call.headers.get("if-match")
    if wanted is not None:
        index = service.shelf.get(call.collection)
        try:
            current = tag_of(await service.lanes.cheap(lambda: index.get(id_)))
        except NotFound:
            current = ""
        if current != wanted:
            return Answer.json(shapes.Problem("changed", "the document has changed since", "read it again", call.id), 412)
    done = await service.write(call, Put(call.collection, [(id_, asked.text, asked.meta)]))
    status = done.result[0]
    return Answer.json({"id": id_, "status": status, "version": done.version}, 201 if status == "added" else 200)


async def remove(service: Service, call: Call) -> Answer:
    id_ = id_of(call)
    done = await service.write(call, Remove(call.collection, [id_]))
    if not done.result:
        raise NotFound(f"there is no document {id_!r:.80}")
    return Answer.json({"removed": done.result, "version": done.version})


async def remove_many(service: Service, call: Call) -> Answer:
    """Those that are there; how many it were says ``removed``."""
    asked = await call.read(shapes.RemoveRequest)
    for id_ in asked.ids:
        check_id(id_)
    done = await service.write(call, Remove(call.collection, asked.ids))
    return Answer.json({"removed": done.result, "version": done.version})


async def admit(service: Service, call: Call) -> Answer:
    asked = await call.read(shapes.AdmitRequest)
    _check(asked.text, call)
    options: dict[str, Any] = {"k": asked.k, "alike": asked.mode}
    options |= {name: value for name in ("by", "threshold") if (value := getattr(asked, name)) is not UNSET}
    check_id(asked.id)
    done = await service.write(call, Admit(call.collection, [(asked.id, asked.text, asked.meta)], options))
    return Answer.json({"id": asked.id, "version": done.version} | done.result[0])


async def add_lines(service: Service, call: Call) -> Answer:
    """A status for each line as soon as its document is on the disk: what was answered is there, whatever happens to the rest."""

    async def statuses() -> AsyncIterator[bytes]:
        number = 0
        async for lines in call.lines():
            for first in range(0, len(lines), TOGETHER):
                some = lines[first : first + TOGETHER]
                yield await _store(service, call, some, number)
                number += len(some)

    return Answer(statuses(), kind="application/x-ndjson")


async def _store(service: Service, call: Call, lines: list[bytes], before: int) -> bytes:
    found: dict[int, dict[str, Any]] = {}
    documents: list[tuple[Any, str, dict[str, Any]]] = []
    places: list[int] = []
    for place, line in enumerate(lines):
        if not line.strip():
            continue
        try:
            each = _line.decode(line)
            check_id(each.id)
            _check(each.text, call)
        except (msgspec.DecodeError, InputError, TooLarge, UnicodeDecodeError, RecursionError) as error:
            found[place] = {"status": "skipped", "message": str(error)}
        else:
            documents.append((each.id, each.text, each.meta))
            places.append(place)
    if documents:
        try:
            statuses = (await service.write(call, Put(call.collection, documents))).result
            found |= {place: {"status": each, "id": document[0]} for place, each, document in zip(places, statuses, documents, strict=True)}
        except WriteFailed as error:
            if len(documents) == 1 or error.failed.status >= 500:
                found |= {
                    place: {"status": "skipped", "id": document[0], "message": str(error)}
                    for place, document in zip(places, documents, strict=True)
                }
            else:  # one of them is wrong: the others are stored
                parts = [await _store(service, call, [lines[place]], before + place) for place in places]
                return b"".join([*parts, *(_status(before + place, each) for place, each in found.items())])
    return b"".join(_status(before + place, found[place]) for place in sorted(found))


def _status(line: int, status: dict[str, Any]) -> bytes:
    return msgspec.json.encode({"line": line + 1} | status) + b"\n"


async def page(service: Service, call: Call) -> Answer:
    index = service.shelf.get(call.collection)
    limit = int(call.number("limit", PAGE) or PAGE)
    if not 1 <= limit <= 1000:
        raise InputError(f"limit={limit}: choose 1 to 1000")
    where = parsed_where(call.query["where"]) if "where" in call.query else None

    excerpt = call.number("excerpt")
    if excerpt is not None and not 1 <= excerpt <= 1_000_000:
        raise InputError(f"excerpt={excerpt:g}: choose 1 to 1000000 characters")
    contains = call.query.get("contains", "").casefold()
    after = _cursor(call.query["after"]) if call.query.get("after") else None

    def work() -> dict[str, Any]:
        rows: list[dict[str, Any]] = []
        last, looked = after, 0
        for each in documents_after(index, after, where):
            if len(rows) == limit or looked == MOST_LOOKED_AT:
                return {"documents": rows, "next": msgspec.json.encode(last).decode(), "total": len(index)}
            last, looked = each.id, looked + 1
            if not contains or contains in str(each.id).casefold() or contains in (each.text or "").casefold():
                rows.append(_shown(each, None if excerpt is None else int(excerpt)))
        return {"documents": rows, "next": None, "total": len(index)}

    return Answer.json(await service.lanes.heavy(work))


def _shown(document: Document, excerpt: int | None) -> dict[str, Any]:
    found: dict[str, Any] = {"id": document.id, "text": document.text, "meta": document.meta}
    if excerpt is not None and document.text is not None:
        found |= {"text": document.text[:excerpt], "characters": len(document.text)}
    return found


def _cursor(after: str) -> str | int:
    try:
        return msgspec.json.decode(after.encode("utf-8", "surrogatepass"), type=str | int)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise InputError(f"after={after[:40]!r}: give 'next' of the page before, as it came") from None


def _check(text: str, call: Call) -> None:
    if len(text) > call.limits.text:
        raise TooLarge(f"the text has {len(text)} characters, and {call.limits.text} are allowed")
