"""Mail (EML): who wrote to whom, the text, and every attachment as what it is."""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable
from contextlib import suppress
from email import policy
from email.errors import CloseBoundaryNotFoundDefect, MessageError, MissingHeaderBodySeparatorDefect
from email.message import EmailMessage, Message
from email.parser import BytesParser
from typing import Any

from lookalike.checks import is_unicode
from lookalike.errors import InputError
from lookalike.files.collecting import Collected, Unreadable
from lookalike.files.kinds import BEFORE_MAIL
from lookalike.files.markup_text import markup_text
from lookalike.files.model import BROKEN, FileText
from lookalike.files.zips import decoded_name
from lookalike.io import decode_text, known_binary

_HEADERS = {"From": "from", "To": "to", "Cc": "cc", "Date": "created"}
_MAX_HEADER = 2000
Inner = Callable[[bytes, str], FileText]
_MAILS = ("message/rfc822", "message/global", "message/news")
_CUT_OFF = "a part of the mail has no end: the mail may be cut off"
_ENCODING = "Content-Transfer-Encoding"
_AS_WRITTEN = policy.default.clone(refold_source="none", max_line_length=None)
_WRONG = (MessageError, ValueError, LookupError, TypeError, AttributeError, IndexError)

# The line between two mails of a mailbox, and the first header behind it.
_NEXT_MAIL = re.compile(rb"\r?\n\r?\n(?=From [^\n]{1,200}\d{4}[^\n]{0,20}\n[!-9;-~]{1,60}:)")
# A file in the text of a mail, as it was sent before there were attachments: its name, and lines that begin with their lengths.
_UUENCODED = re.compile(r"^begin [0-7]{3,4} ([^\n]{1,200})\n((?:[!-`][ -`]{0,90}\n)++)(?: {0,2}\n)?end[ \t]*$", re.MULTILINE)


def read_mail(data: bytes, out: Collected, inner: Inner) -> None:
    """``inner`` reads an attachment. A mailbox holds several mails."""
    mails = _NEXT_MAIL.split(data) if data.startswith(b"From ") else [data]
    if len(mails) > 1:
        for number, each in enumerate(mails, 1):
            message = _parsed(each)
            with out.place("mail", f"mail {number}"):
                out.paragraph(_header(message, "Subject") or "")
                _part(message, out, inner)
        return
    message = _parsed(data)
    out.title = _header(message, "Subject")
    for name, called in _HEADERS.items():
        if value := _header(message, name):
            out.meta[called] = value
    out.paragraph(out.title or "")
    _part(message, out, inner)


def _parsed(data: bytes) -> EmailMessage:
    before = BEFORE_MAIL.match(data)
    try:
        message = BytesParser(policy=policy.default).parsebytes(data[before.end() :] if before else data)
    except _WRONG as error:
        raise Unreadable(BROKEN, f"it is no mail that can be read ({str(error)[:200]})") from error
    for part in message.walk():
        _decode_headers(part)
    return message


def _decode_headers(message: Message) -> None:
    """Many programs write bytes of their system into headers, without a word about the encoding. The library would give none of them."""
    with suppress(*_WRONG):
        for name, value in list(message.raw_items()):
            if not is_unicode(value):
                message.replace_header(name, " ".join(decoded_name(value.encode("utf-8", "surrogateescape")).splitlines()))


def _header(message: Message, name: str) -> str | None:
    try:
        value = message[name]
    except _WRONG:  # what the library makes of a broken header may be anything
        return None
    return None if value is None else " ".join(str(value).split())[:_MAX_HEADER]


def _part(message: Message, out: Collected, inner: Inner, said: str = "") -> None:
    """A part, and what is in it. What was ``said`` in another form is not written again."""
    out.budget.entry()
    if any(isinstance(defect, CloseBoundaryNotFoundDefect) for defect in message.defects) and _CUT_OFF not in out.notes:
        out.notes.append(_CUT_OFF)
    packing = _packing(message)
    kind = message.get_content_type()
    if kind in _MAILS:
        forwarded: Any = message.get_payload() if message.is_multipart() else []
        if packing in ("base64", "quoted-printable"):
            forwarded = [_parsed(_unpacked(each, packing)) for each in forwarded]
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
    # A document that is sent as the text of a mail is no text.
    if name is None and kind in ("text/plain", "text/html") and not known_binary(data):
        text, files = _without_files(_text(message, data, kind))
        out.paragraph(_beyond(text, said, out) if said else text)
        for name, file in files:
            out.budget.entry()
            with out.place("attachment", name):
                out.add(inner(file, name))
    elif data:
        name = name or "unnamed"
        with out.place("attachment", name):
            out.add(inner(data, name))


def _packing(message: Message) -> str:
    """How a part is packed. Programs that show mail do not mind spaces and quotes around the word; the library would unpack nothing."""
    try:
        written = str(message.get(_ENCODING, ""))
        word = re.search(r"[\w-]+", written)
        if word and word[0] != written:
            message.replace_header(_ENCODING, word[0])
    except _WRONG:
        return ""
    return word[0].lower() if word else ""


def _unpacked(mail: Message, packing: str) -> bytes:
    """Mail in mail should not be packed, and is. The library takes what is packed for the mail."""
    part = Message()
    part[_ENCODING] = packing
    try:
        written = mail.as_bytes(policy=_AS_WRITTEN).decode("ascii", "surrogateescape")
        if any(isinstance(defect, MissingHeaderBodySeparatorDefect) for defect in mail.defects):
            written = written.replace("\n\n", "\n", 1)  # that line was not there
        part.set_payload(written)
        payload = part.get_payload(decode=True)
    except _WRONG as error:
        raise Unreadable(BROKEN, f"it is no mail that can be read ({str(error)[:200]})") from error
    return payload if isinstance(payload, bytes) else b""


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
    charset = message.get_content_charset() or ""
    try:
        text = data.decode({"gb2312": "gb18030", "gbk": "gb18030"}.get(charset, charset) or "utf-8")
    except (LookupError, ValueError, TypeError):  # it does not say, or what it says is not true
        if kind == "text/html":
            return markup_text(data).text
        text = _guessed(data)
    return markup_text(text).text if kind == "text/html" else text.replace("\r\n", "\n")


def _guessed(data: bytes) -> str:
    try:
        return decode_text(data, "the text").text
    except InputError:
        return data.decode("utf-8", "replace")


def _without_files(text: str) -> tuple[str, list[tuple[str, bytes]]]:
    """A text without the files that are written into it, and these."""
    if "\nend" not in text:
        return text, []
    kept, files, at = [], [], 0
    for found in _UUENCODED.finditer(text):
        with suppress(binascii.Error):  # it only looks like one
            files.append((found[1].strip(), b"".join(map(binascii.a2b_uu, found[2].splitlines()))))
            kept.append(text[at : found.start()])
            at = found.end()
    return "".join([*kept, text[at:]]), files
