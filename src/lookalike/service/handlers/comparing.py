"""Comparisons, fingerprints, files, pages from the web, feedback: whatever needs no store."""

from __future__ import annotations

import base64
import binascii
import tempfile
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import UNSET

from lookalike.comparison.compare import compare as compare_things
from lookalike.drafts.report import feedback as judge_pairs
from lookalike.errors import InputError
from lookalike.fingerprints.every import fingerprint as fingerprints_of
from lookalike.io import decode_text
from lookalike.markup.extraction import page_text
from lookalike.markup.page import page
from lookalike.service import shapes
from lookalike.service.exchange import Answer, BadRequest, Call, TooLarge
from lookalike.service.handlers.page_rows import tag_rows

if TYPE_CHECKING:
    from lookalike.service.app import Service

Result = TypeVar("Result")
MOST_NAME = 200  # characters of the name of a file


async def compare(service: Service, call: Call) -> Answer:
    asked = await call.read(shapes.CompareRequest)
    options: dict[str, Any] = {}
    for name in ("measures", "ignore_form", "threshold"):
        if getattr(asked, name) is not UNSET:
            options[name] = getattr(asked, name)
    names = ("A", "B") if isinstance(asked.names, type(UNSET)) else (asked.names[0], asked.names[1])

    def work() -> Answer:
        def answered(left: Any, right: Any) -> Answer:
            found = compare_things(left, right, **options)
            if asked.format == "html":
                return Answer(found.to_html(names=names).encode("utf-8", "replace"), kind="text/html; charset=utf-8")
            data = found.to_dict()
            return Answer.json(data if found.tags is None else data | {"tag_rows": tag_rows(found.tags)})

        if asked.as_ == "file":
            options["kind"] = "file"
            return _with_files([_bytes(asked.left), _bytes(asked.right)], lambda paths: answered(*paths))
        return answered(*(_thing(each, asked.as_, asked.language, call.limits.text) for each in (asked.left, asked.right)))

    return await service.lanes.heavy(work)


def _thing(given: str | dict[str, Any], what: str, language: object, most: int) -> Any:
    if isinstance(given, dict):
        if what != "record":
            raise InputError("an object is a record: ask with as=record")
        return given
    if len(given) > most:
        raise TooLarge(f"a text has {len(given)} characters, and {most} are allowed")
    if what == "record":
        raise InputError("a record is an object, such as {'domain': 'invoice', 'words': ['a', 'b']}")
    if what == "code":
        from lookalike.text.code import code

        return code(given, language if isinstance(language, str) else "python")
    return page(given) if what == "page" else given


def _bytes(given: object) -> bytes:
    try:
        return base64.b64decode(given if isinstance(given, str) else "?", validate=True)
    except (binascii.Error, ValueError):
        raise InputError("as=file: give the bytes of both files in base64") from None


def _with_files(contents: list[bytes], work: Callable[[list[Path]], Result], names: list[str] | None = None) -> Result:
    """What reads files gets files: they are deleted when it is done."""
    with tempfile.TemporaryDirectory(prefix="lookalike-") as folder:
        paths = [Path(folder) / (names[place] if names else f"{place}.bin") for place in range(len(contents))]
        for path, content in zip(paths, contents, strict=True):
            path.write_bytes(content)
        return work(paths)


async def fingerprint(service: Service, call: Call) -> Answer:
    asked = await call.read(shapes.FingerprintRequest)
    if (asked.text is UNSET) == (asked.record is UNSET):
        raise InputError("give a text or a record, one of the two")
    thing = asked.text if asked.record is UNSET else asked.record
    recipe = {} if asked.recipe is UNSET else {"recipe": asked.recipe}
    kinds = asked.kinds if isinstance(asked.kinds, str) else tuple(asked.kinds)
    found = await service.lanes.heavy(lambda: fingerprints_of(thing, kinds=kinds, **recipe))  # type: ignore[arg-type]  # the shape allows these
    return Answer.json({"fingerprints": {kind: each.to_dict() for kind, each in found.items()}})


async def read(service: Service, call: Call) -> Answer:
    """The body is the file: a page needs no parser of its own to show a PDF."""
    data = await call.body()
    name = PurePath(call.query.get("name", "file").replace("\\", "/")).name.replace("\0", "")[-MOST_NAME:] or "file"
    if name in (".", ".."):
        name = "file"

    def work() -> dict[str, Any]:
        try:
            from lookalike.files.reading import read as read_file
        except ImportError:
            found = decode_text(data, name)
            return {"text": found.text, "name": name, "kind": "text", "notes": [found.note] if found.note else [], "html": None}

        def opened(paths: list[Path]) -> dict[str, Any]:
            found = read_file(paths[0])
            html = data.decode("utf-8", "replace") if found.kind == "html" else None
            return {"text": found.text or "", "name": name, "kind": found.kind, "notes": list(found.notes), "html": html}

        return _with_files([data], opened, [name])

    return Answer.json(await service.lanes.heavy(work))


async def fetch(service: Service, call: Call) -> Answer:
    asked = await call.read(shapes.FetchRequest)
    if not service.settings.fetch:
        raise BadRequest(403, "this service does not fetch pages", "paste the page, or start it with --fetch")
    from lookalike.fetching.fetched import fetch as fetch_page

    def work() -> dict[str, Any]:
        found = fetch_page(asked.url)
        page_ = found.page()
        return {"text": page_text(page_), "name": found.url, "kind": "html", "notes": [], "html": page_.html}

    return Answer.json(await service.lanes.heavy(work))


async def feedback(service: Service, call: Call) -> Answer:
    asked = await call.read(shapes.FeedbackRequest)

    def work() -> dict[str, Any]:
        report = judge_pairs(asked.pairs)
        rows = []
        for row in report.rows:
            pair = asked.pairs[int(row.place.split()[-1]) - 1]  # "item 3"
            rows.append(row.to_dict() | {"draft": pair.get("draft"), "final": pair.get("final")})
        return report.to_dict() | {"rows": rows}

    return Answer.json(await service.lanes.heavy(work))
