"""XML in one pass, as a stream: what an element starts, what text it holds, what it ends. Nothing is built, and no entity is expanded."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html.entities import html5
from xml.parsers import expat  # declarations of entities are refused below

from lookalike.files.collecting import Unreadable
from lookalike.files.model import BROKEN

Started = Callable[[dict[str, str]], None]
Ended = Callable[[], None]
_MAX_NAMES = 10_000  # different names of elements
_UNKNOWN = object()


class RefusedXml(Exception):
    """XML that no program writes into documents: a declaration of entities."""


def parse(
    pieces: Iterable[bytes],
    starts: dict[str, Started],
    ends: dict[str, Ended],
    text: Callable[[str], None],
    name: str,
    *,
    encoding: str | None = None,
) -> None:
    """Call ``starts`` and ``ends`` by the local names of elements, whatever their prefixes, and ``text`` with what is between."""
    parser = expat.ParserCreate(encoding)
    parser.buffer_text = True
    parser.buffer_size = 1 << 15
    # Most elements mean nothing for the text: looking up the name as it is written, prefix and all, is all that they cost.
    begin: dict[str, object] = {}
    finish: dict[str, object] = {}

    def meaning(cache: dict[str, object], table: dict[str, Started] | dict[str, Ended], tag: str) -> object:
        if len(cache) > _MAX_NAMES:
            raise RefusedXml(f"more than {_MAX_NAMES:,} different elements")
        found = cache[tag] = table.get(tag.rpartition(":")[2])
        return found

    def start(tag: str, attributes: dict[str, str]) -> None:
        act = begin.get(tag, _UNKNOWN)
        if act is _UNKNOWN:
            act = meaning(begin, starts, tag)
        if act is not None:
            act(attributes)  # type: ignore[operator]  # one of starts

    def end(tag: str) -> None:
        act = finish.get(tag, _UNKNOWN)
        if act is _UNKNOWN:
            act = meaning(finish, ends, tag)
        if act is not None:
            act()  # type: ignore[operator]  # one of ends

    def refuse_entity(*_: object) -> None:
        raise RefusedXml("it declares entities")

    def skipped(entity: str, is_parameter: bool) -> None:
        if not is_parameter:
            text(html5.get(f"{entity};", ""))

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, text
    parser.EntityDeclHandler = refuse_entity
    parser.SkippedEntityHandler = skipped
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    try:
        for piece in pieces:
            parser.Parse(piece, False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise Unreadable(BROKEN, f"{name!r} in it is no whole XML ({error})") from error
    except RefusedXml as error:
        raise Unreadable(BROKEN, f"{name!r} in it is refused: {error}") from error
    finally:
        parser.StartElementHandler = parser.EndElementHandler = parser.CharacterDataHandler = None  # they refer to each other
        parser.EntityDeclHandler = parser.SkippedEntityHandler = None
