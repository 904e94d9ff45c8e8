"""Markdown, HTML and entities as the plain text that they show.

Marks are taken for markup where they stand as markup does: ``*`` beside a word and not between two, ``_`` outside of names, tags that
HTML has. Nothing is parsed, so that the time is linear and broken markup is no error.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from lookalike.text.forms.rewriting import Change, Step, replaced

_BLOCKS = (
    "address|article|aside|blockquote|body|br|caption|dd|details|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|head|header|hr|html|li|"
    "main|nav|ol|option|p|pre|section|select|summary|table|tbody|td|tfoot|th|thead|title|tr|ul"
)
_INLINE = (
    "a|abbr|acronym|b|base|bdi|bdo|big|button|center|cite|code|col|colgroup|data|del|dfn|em|font|i|iframe|img|input|ins|kbd|label|link|mark|"
    "meta|noscript|picture|q|rp|rt|ruby|s|samp|script|small|source|span|strike|strong|style|sub|sup|svg|template|textarea|time|tt|u|var|video|wbr"
)
_TAG = re.compile(
    rf"<!doctype[^<>]{{0,500}}>|</?(?:(?P<block>{_BLOCKS})|{_INLINE})(?:\s(?:[^<>\"']|\"[^\"<]{{0,2000}}\"|'[^'<]{{0,2000}}'){{0,4000}}|\s[^<>]{{0,4000}})?/?>",
    re.IGNORECASE,
)
# Comments, and scripts and style sheets with what they hold: what begins one, and how it ends.
_HIDDEN = re.compile(r"<(?:!--|(script|style)\b[^<>]{0,2000}>)", re.IGNORECASE)
_HIDDEN_ENDS = {name: re.compile(rf"</{name}\s{{0,100}}>", re.IGNORECASE) for name in ("script", "style")} | {"": re.compile("-->")}
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")

# What a line begins or ends with, and lines of which nothing is shown.
_LINE = re.compile(
    r"^[ \t]*(?:```|~~~)[^\n`]*$"  # a fence
    r"|^ {0,3}\[\^[^\[\]\n]{1,100}\]:[ \t]+"  # a footnote, whose text is shown
    r"|^ {0,3}\[[^\[\]\n^][^\[\]\n]{0,200}\]:[ \t]+\S[^\n]*$"  # the target of a link
    r"|^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)*[ \t]*:?-{2,}:?[ \t]*\|?[ \t]*$"  # a rule, or the line under the head of a table
    r"|^[ \t]*(?:={3,}|(?:\*[ \t]?){3,}|(?:_[ \t]?){3,})[ \t]*$"
    r"|^(?:[ \t]*>)+[ \t]?|^[ \t]*#{1,6}[ \t]+|(?<![ \t])[ \t]+#{1,6}[ \t]*$"  # quoted text, a heading
    r"|^[ \t]*[-*+•·▪◦‣●○][ \t]+(?:\[[ xX]\][ \t]+)?"  # an item of a list, perhaps to be done
    r"|(?<=[^\s\\])\\$"  # a line that is broken by hand
    r"|(?<=\S)\[\^[^\[\]\n]{1,100}\](?!:)",  # where a footnote belongs
    re.MULTILINE,
)
_TARGET = r"<[^<>\n]{0,2000}>|[^()\s]{0,2000}(?:\([^()\s]{0,500}\)[^()\s]{0,500})?"
_TITLE = r"[ \t]+(?:\"[^\"\n]{0,500}\"|'[^'\n]{0,500}'|\([^()\n]{0,500}\))"
_LINK = re.compile(rf"!?\[(?P<shown>[^\[\]]{{0,1000}})\](?:\([ \t]*(?:{_TARGET})(?:{_TITLE})?[ \t]*\)|\[[^\[\]\n]{{0,200}}\])")
_AUTOLINK = re.compile(r"<(?P<shown>(?:https?|ftp|mailto):[^<>\s]{1,2000})>")
# The line under the head of a table, which makes the lines around it a table however few cells they have.
_UNDER_HEAD = re.compile(r"^(?=[^\n]*\|)[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$", re.MULTILINE)
_ROW = re.compile(r"^[ \t]*\|[^\n]*\|[ \t]*$|^[^\n|]*\|[^\n]*\|[^\n]*$", re.MULTILINE)
_MARKS = re.compile(r"\\(?P<escaped>[\\`*_{}\[\]()#+.!|~>-])|(?P<stars>\*{1,3})|(?P<lines>_{1,3})|~~|`{1,3}")


def hidden(text: str) -> Step | None:
    """Without comments, scripts and style sheets; one that does not end is no such thing."""
    changes: list[Change] = []
    unended: set[str] = set()
    start = _HIDDEN.search(text) if "<" in text else None
    while start:
        name = (start[1] or "").lower()
        end = None if name in unended else _HIDDEN_ENDS[name].search(text, start.end())
        if end is None:
            unended.add(name)
        else:
            changes.append(Change(start.start(), end.end(), ""))
        start = _HIDDEN.search(text, end.end() if end else start.end())
    return Step(text, changes) if changes else None


def tags(text: str) -> Step | None:
    """Without HTML tags; those that begin or end a block are a line end."""
    return replaced(_TAG, text, lambda match: "\n" if match["block"] else "") if "<" in text else None


def entities(text: str) -> Step | None:
    """Entities as the characters they stand for."""
    return replaced(_ENTITY, text, lambda match: html.unescape(match[0])) if "&" in text else None


def lines(text: str) -> Step | None:
    """Without the marks of headings, lists, quoted text, rules and fences."""
    return replaced(_LINE, text, lambda _: "")


def links(text: str) -> Step | None:
    """Links and images as the text they show."""
    if "](" not in text and "][" not in text:
        return None
    return _around_shown(_LINK, text)


def autolinks(text: str) -> Step | None:
    return _around_shown(_AUTOLINK, text) if "<" in text else None


def _around_shown(pattern: re.Pattern[str], text: str) -> Step | None:
    """Without what stands around the shown part: its places stay true."""
    changes: list[Change] = []
    for match in pattern.finditer(text):
        (start, end), (first, last) = match.span(), match.span("shown")
        changes += Change(start, first, ""), Change(last, end, "")
    return Step(text, changes) if changes else None


def tables(text: str) -> Step | None:
    """Tables with a head as their cells. Before ``lines``, which takes the line under the head away."""
    if "|" not in text:
        return None
    changes: list[Change] = []
    done = 0
    for under in _UNDER_HEAD.finditer(text):
        head = text.rfind("\n", 0, max(0, under.start() - 1)) + 1
        if head < done or "|" not in text[head : under.start()]:
            continue
        done = _table_end(text, under.end())
        changes += (Change(place, place + 1, " ") for place in _bars(text, head, under.start()))
        changes.append(Change(*under.span(), ""))
        changes += (Change(place, place + 1, " ") for place in _bars(text, under.end(), done))
    return Step(text, changes) if changes else None


def _table_end(text: str, place: int) -> int:
    """Where the rows from here on end: before a line without a bar."""
    while place < len(text):
        end = text.find("\n", place + 1)
        end = len(text) if end < 0 else end
        if "|" not in text[place:end]:
            return place
        place = end
    return place


def cells(text: str) -> Step | None:
    """Rows of a table without the lines between their cells."""
    if "|" not in text:
        return None
    changes = [Change(place, place + 1, " ") for row in _ROW.finditer(text) for place in _bars(text, *row.span())]
    return Step(text, changes) if changes else None


def _bars(text: str, start: int, end: int) -> Iterator[int]:
    place = text.find("|", start, end)
    while place >= 0:
        if text[place - 1 : place] != "\\":
            yield place
        place = text.find("|", place + 1, end)


def emphasis(text: str) -> Step | None:
    """Without the marks of emphasis and code, and without the backslashes of what would be a mark."""
    if not any(mark in text for mark in "*_~`\\"):
        return None
    return replaced(_MARKS, text, _plain)


def _plain(match: re.Match[str]) -> str | None:
    if match["escaped"]:
        return match["escaped"]
    text, (start, end) = match.string, match.span()
    before, after = text[start - 1 : start], text[end : end + 1]
    if match["stars"]:
        is_sign = _is_ascii_word(before) and _is_ascii_word(after)  # 2*3, 2**8
    elif match["lines"]:
        is_sign = (before.isalnum() and after.isalnum()) or "_" in (before, after)  # a_name
    else:
        is_sign = False
    stands_alone = not before.strip() and not after.strip()
    return None if is_sign or stands_alone else ""


def _is_ascii_word(character: str) -> bool:
    return character.isascii() and character.isalnum()
