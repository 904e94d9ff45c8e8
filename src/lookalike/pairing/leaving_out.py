"""Parts of a text that are not its author's words, or not prose: quotations and the list of references.

A **quotation** stands between a pair of marks, ``“…”`` ``‘…’`` ``「…」`` ``『…』`` ``«…»`` ``„…“``, or between two ``"`` of one
paragraph. It ends with its paragraph at the latest, and has at least ``QUOTED`` characters or ``QUOTED_IDEOGRAPHS`` ideographs: a title
or a single word in quotes is part of the sentence. A paragraph that begins with ``>`` is a quotation too, as mail and Markdown have it.

The **references** begin at a line that says nothing else than "References", "Bibliography", "参考文献" and the like, in the last
``LATEST`` of the text. They end at the next heading (an appendix), or with the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from lookalike.checks import check_several, check_str
from lookalike.errors import InputError
from lookalike.model import Span

QUOTED = 20  # characters: four or five words
QUOTED_IDEOGRAPHS = 8
LATEST = 0.7  # of the text: a table of contents at its beginning names the references too

_CLOSING = {"”": "“", "」": "「", "』": "『", "»": "«", "’": "‘"}  # and what each of them closes
_SAME = frozenset('"＂')  # marks that open and close
_MARK = re.compile(r"[“”「」『』«»„\"＂]|(?<!\w)‘|’(?!\w)")
_PARAGRAPH = re.compile(r"[^\n\r]+(?:\r?\n(?![ \t]*\r?\n)[^\n\r]+)*")
_BLOCK = re.compile(r"^[ \t]*>.*(?:\r?\n[ \t]*>.*)*", re.MULTILINE)
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff]")
_NUMBER = r"(?:(?:\d+|[IVX]+|[一二三四五六七八九十]+)[.、)）:：]?[ \t\u3000]*)?"
_DECORATION = r"[ \t\u3000#*_=【\[]*"
_REFERENCES = re.compile(
    rf"^{_DECORATION}{_NUMBER}(?:references?(?: (?:and notes|cited|list))?|list of references|bibliography|works cited"
    r"|literature(?: cited)?|sources|参考文献|參考文獻|参考书目|參考書目|引用文献|引用文獻|主要参考文献)[ \t\u3000#*_=】\]:：]*$",
    re.IGNORECASE | re.MULTILINE,
)
_AFTERWARDS = re.compile(
    rf"^{_DECORATION}{_NUMBER}(?:appendix|appendices|annex|acknowledge?ments?|附录|附錄|致谢|致謝)\b.{{0,60}}$",
    re.IGNORECASE | re.MULTILINE,
)


def quotes(text: str) -> Iterator[Span]:
    """Where a text quotes: with the marks."""
    yield from (found.span() for found in _BLOCK.finditer(text))
    for paragraph in _PARAGRAPH.finditer(text):
        yield from _quoted(text, *paragraph.span())


def _quoted(text: str, start: int, end: int) -> Iterator[Span]:
    """A mark that nobody closes, such as an inch, hides no other: each kind of mark waits for its own."""
    open_at: dict[str, list[int]] = {}
    for found in _MARK.finditer(text, start, end):
        mark = found[0]
        closed = "„" if mark == "“" and open_at.get("„") else mark if mark in _SAME and open_at.get(mark) else _CLOSING.get(mark)
        if closed is None:
            open_at.setdefault(mark, []).append(found.end())
        elif waiting := open_at.get(closed):
            first = waiting.pop()
            if _is_long(text[first : found.start()]):
                yield first - 1, found.end()


def _is_long(inside: str) -> bool:
    return len(inside) >= QUOTED or len(_IDEOGRAPH.findall(inside)) >= QUOTED_IDEOGRAPHS


def references(text: str) -> Iterator[Span]:
    """Where the list of references stands, with its heading."""
    headings = [found for found in _REFERENCES.finditer(text) if found.start() >= (1 - LATEST) * len(text)]
    if headings:
        after = _AFTERWARDS.search(text, headings[-1].end())
        yield headings[-1].start(), after.start() if after else len(text)


PARTS: dict[str, Callable[[str], Iterator[Span]]] = {"quotes": quotes, "references": references}


def check_parts(names: Iterable[str] | None) -> tuple[str, ...]:
    """The names of parts, each once."""
    if names is None:
        return ()
    wanted = {
        check_str("leave_out", name, f"a list of {', '.join(PARTS)}") for name in check_several("leave_out", names, "a list of names")
    }
    if unknown := sorted(wanted - PARTS.keys()):
        raise InputError(f"leave_out={unknown[0]!r:.60}: choose from {', '.join(PARTS)}")
    return tuple(name for name in PARTS if name in wanted)


def left_out(text: str, names: Iterable[str]) -> list[Span]:
    """Where the parts stand, in order; they may overlap."""
    return sorted(span for name in names for span in PARTS[name](text))
