"""Mail (EML): who wrote to whom, the text, and every attachment as what it is."""

from __future__ import annotations

from collections.abc import Callable
from email import policy
from email.errors import MessageError
from email.message import EmailMessage, Message
from email.parser import BytesParser
from typing import Any

from lookalike.files.collecting import Collected, Unreadable
from lookalike.files.markup_text import markup_text
from lookalike.files.model import BROKEN, FileText

_HEADERS = {"From": "from", "To": "to", "Cc": "cc", "Date": "created"}
_MAX_HEADER = 2000
Inner = Callable[[bytes, str], FileText]
_WRONG = (MessageError, ValueError, LookupError, TypeError, AttributeError, IndexError)


def read_mail(data: bytes, out: Collected, inner: Inner) -> None:
    """``inner`` reads an attachment."""
    try:
        message = BytesParser(policy=policy.default).parsebytes(data)
    except _WRONG as error:
        raise Unreadable(BROKEN, f"it is no mail that can be read ({str(error)[:200]})") from error
    out.title = _header(message, "Subject")
    for name, called in _HEADERS.items():
        if value := _header(message, name):
            out.meta[called] = value
    out.paragraph(out.title or "")
    _part(message, out, inner)


def _header(message: Message, name: str) -> str | None:
    try:
        value = message[name]
    except _WRONG:  # what the library makes of a broken header may be anything
        return None
    return None if value is None else " ".join(str(value).split())[:_MAX_HEADER]


def _part(message: Message, out: Collected, inner: Inner, said: str = "") -> None:
    """A part, and what is in it. What was ``said`` in another form is not written again."""
    out.budget.entry()
    kind = message.get_content_type()
    if kind == "message/rfc822":
        forwarded: Any = message.get_payload() if message.is_multipart() else []
        for each in forwarded:
            with out.place("mail", "forwarded mail"):
                out.paragraph(_header(each, "Subject") or "")
                _part(each, out, inner)
        return
    if message.is_multipart():
        parts: list[Any] = list(message.iter_parts()) if isinstance(message, EmailMessage) else []
        if kind == "multipart/alternative":
            _alternatives(parts, out, inner)
            return
        for part in parts:
            _part(part, out, inner, said)
        return
    name = _filename(message)
    payload = message.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    if name is None and kind in ("text/plain", "text/html"):
        text = _text(message, data, kind)
        out.paragraph(_beyond(text, said, out) if said else text)
    elif data:
        name = name or "unnamed"
        with out.place("attachment", name):
            out.add(inner(data, name))


def _alternatives(parts: list[Any], out: Collected, inner: Inner) -> None:
    """The plain text, or else the first. The others should say the same and need not, and people are shown the last of them: lines that
    only they have are read too, and so is what is attached to them."""
    first = next((part for part in parts if part.get_content_type() == "text/plain"), parts[0] if parts else None)
    said = ""
    if first is not None:
        _part(first, out, inner)
        payload = first.get_payload(decode=True)
        if isinstance(payload, bytes):
            said = _squeezed(_text(first, payload, first.get_content_type()))
    for part in parts:
        if part is not first:
            _part(part, out, inner, said)


def _beyond(text: str, said: str, out: Collected) -> str:
    """The lines of a text that another does not have, wherever its own lines end."""
    found = []
    for line in text.splitlines():
        out.budget.check_time()
        if _squeezed(line) not in said:
            found.append(line)
    return "\n".join(found)


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _filename(message: Message) -> str | None:
    try:
        return message.get_filename()
    except _WRONG:
        return "unnamed"


def _text(message: Message, data: bytes, kind: str) -> str:
    charset = message.get_content_charset() or "utf-8"
    try:
        text = data.decode({"gb2312": "gb18030", "gbk": "gb18030"}.get(charset, charset), "replace")
    except (LookupError, ValueError, TypeError):
        text = data.decode("utf-8", "replace")
    return markup_text(text).text if kind == "text/html" else text.replace("\r\n", "\n")
