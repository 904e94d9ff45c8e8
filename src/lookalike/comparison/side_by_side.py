"""Both texts beside each other as HTML rows. What belongs together stands in one row; long kept stretches are folded.

The page stays one that a browser can open: of kept text only so much is folded in, and of everything only so much is shown.
Both limits are stated where they take effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from lookalike.comparison.blocks import blocks, partner_groups
from lookalike.comparison.edits import Edits, Segment
from lookalike.model import Passage, Span
from lookalike.reports.escaping import escaped
from lookalike.reports.marks import marked, row
from lookalike.text.lines import Lines

FOLDED_FROM = 1_000  # characters of a kept stretch
CONTEXT = 250  # characters shown at either end of it
MAX_FOLDED = 400_000  # kept characters that can be unfolded, both sides together
MAX_SHOWN = 1_000_000  # characters outside folds, on each side
MAX_STRETCHES = 20_000  # elements cost a browser more than characters

_IGNORED, _END = '<span class="ignored">', "</span>"


class _Pane:
    """One text, given out piece by piece from its beginning to its end."""

    def __init__(
        self,
        text: str,
        names: tuple[str, str],
        groups: dict[Span, int],
        ignored: Sequence[Span],
        passages: Sequence[Span],
        numbered: bool = False,
    ) -> None:
        self.text, self.groups = text, groups
        self.name, self.other = names  # with what the names of places begin, here and in the other text
        self.at = 0
        self.room = MAX_SHOWN
        self._linked: set[int] = set()
        starts = ((start, f'<i class="passage" id="{self.name}p{n}" data-n="{n}"></i>') for n, (start, _) in enumerate(passages, 1))
        ends = ((end, f'<i id="{self.name}q{n}"></i>') for n, (_, end) in enumerate(passages, 1))
        beginnings = Lines(text).starts if numbered else []
        lines = ((start, f'<i class="line" data-n="{n}"></i>') for n, start in enumerate(beginnings, 1) if start < len(text))
        self._marks = sorted(chain(ends, starts, lines), key=lambda mark: mark[0], reverse=True)  # of one place, the last comes first
        self._borders = [border for span in reversed(ignored) for border in reversed(span)]  # of ignored stretches; the next is the last
        self._ignoring = False

    @property
    def at_line_start(self) -> bool:
        recent = self.text[max(0, self.at - 80) : self.at]
        return self.at == 0 or "\n" in recent[len(recent.rstrip()) :]

    def until(self, end: int) -> str:
        """What stands between here and ``end``."""
        self._pass_borders()
        self.room -= end - self.at
        pieces = [_IGNORED] if self._ignoring and self.at < end else []
        while self.at < end:
            mark = self._marks[-1][0] if self._marks else end
            border = self._borders[-1] if self._borders else end
            stop = min(mark, border, end)
            pieces.append(escaped(self.text[self.at : stop]))
            self.at = stop
            if stop == end:
                pieces += [_END] if self._ignoring else []
            elif stop == border:
                pieces.append(_END if self._ignoring else _IGNORED)
                self._pass_borders()
            else:
                pieces.append(self._marks.pop()[1])
        return "".join(pieces)

    def _pass_borders(self) -> None:
        while self._borders and self._borders[-1] <= self.at:
            self._borders.pop()
            self._ignoring = not self._ignoring

    def skip(self, end: int) -> str:
        """Passes over what stands before ``end``; only the places that links lead to remain."""
        places: list[str] = []
        while self._marks and self._marks[-1][0] <= end:
            place = self._marks.pop()[1]
            places += [place] if " id=" in place else []
        self.at = end
        self._pass_borders()
        return "".join(places)

    def stretch(self, segment: Segment) -> str:
        """A changed stretch, or as much of it as there is room for."""
        inner = self.until(min(segment.span[1], self.at + max(self.room, 0)))
        group = self.groups.get(segment.span)
        if group is None:
            return marked(segment.kind, inner)
        place = "" if group in self._linked else f' id="{self.name}{group}"'
        self._linked.add(group)
        return marked(segment.kind, inner, f'{place} href="#{self.other}{group}" data-group="{group}" draggable="false"')


class SideBySide:
    """The rows of a pair of texts. ``name`` tells its places from those of other pairs on the same page; lines can be ``numbered``."""

    def __init__(
        self,
        left: str,
        right: str,
        edits: Edits,
        passages: Sequence[Passage] = (),
        ignored: tuple[Sequence[Span], Sequence[Span]] = ((), ()),
        name: str = "",
        numbered: bool = False,
    ) -> None:
        groups = partner_groups(edits)
        names = f"{name}l", f"{name}r"
        self.left = _Pane(left, names, groups[0], ignored[0], [passage.left for passage in passages], numbered)
        self.right = _Pane(right, names[::-1], groups[1], ignored[1], [passage.right for passage in passages], numbered)
        self.edits = edits
        self._rows: list[str] = []
        self._cells: tuple[list[str], list[str]] = ([], [])
        self._row_start = 0, 0
        self._foldable = MAX_FOLDED
        self._stretches = 0

    def html(self) -> str:
        for left, right, kept in blocks(self.edits):
            left_end, right_end = (span[0] for span in kept) if kept else (len(self.left.text), len(self.right.text))
            self._show(left[0].span[0] if left else left_end, right[0].span[0] if right else right_end)
            self._break_line()
            self._show_changes(self.left, left, left_end)
            self._show_changes(self.right, right, right_end)
            self._break_line()
            if self._is_full():
                return self._cut_off()
            if kept:
                self._show_kept(*kept)
        self._show(len(self.left.text), len(self.right.text))
        self._add(self.left, self.left.skip(len(self.left.text)))
        self._add(self.right, self.right.skip(len(self.right.text)))
        self._flush()
        return "".join(self._rows)

    def _is_full(self) -> bool:
        return self.left.room <= 0 or self.right.room <= 0 or self._stretches >= MAX_STRETCHES

    def _add(self, pane: _Pane, piece: str) -> None:
        self._cells[pane is self.right].append(piece)

    def _show(self, left_end: int, right_end: int) -> None:
        self._add(self.left, self.left.until(left_end))
        self._add(self.right, self.right.until(right_end))

    def _show_changes(self, pane: _Pane, segments: Sequence[Segment], end: int) -> None:
        for segment in segments:
            if pane.room <= 0:
                return
            self._add(pane, pane.until(segment.span[0]))
            self._add(pane, pane.stretch(segment))
            self._stretches += 1
        if pane.room > 0:
            self._add(pane, pane.until(end))

    def _show_kept(self, left: Span, right: Span) -> None:
        if max(left[1] - left[0], right[1] - right[0]) > FOLDED_FROM:
            left_head, left_tail = _context(self.left.text, left)
            right_head, right_tail = _context(self.right.text, right)
            if self.left.text[slice(*left)] == self.right.text[slice(*right)]:
                right_head, right_tail = right[0] + left_head - left[0], right[1] - (left[1] - left_tail)
            self._show_lines(left_head, right_head)
            self._flush()
            self._fold(left_tail, right_tail)
        self._show_lines(left[1], right[1])

    def _fold(self, left_end: int, right_end: int) -> None:
        sizes = left_end - self.left.at, right_end - self.right.at
        label = f"{' / '.join(f'{size:,}' for size in sorted(set(sizes)))} characters kept"
        if sum(sizes) > self._foldable:
            places = self.left.skip(left_end) + self.right.skip(right_end)
            self._rows.append(f'<div class="fold left-out">{places}… {label}, left out of this page …</div>')
            self._row_start = self.left.at, self.right.at
            return
        self._foldable -= sum(sizes)
        self.left.room, self.right.room = self.left.room + sizes[0], self.right.room + sizes[1]
        self._rows.append(f'<details class="fold"><summary>… {label} …</summary>')
        self._show_lines(left_end, right_end)
        self._flush()
        self._rows.append("</details>")

    def _show_lines(self, left_end: int, right_end: int) -> None:
        """Line beside line, if both sides have the same number of lines."""
        left_lines, right_lines = _line_ends(self.left.text, self.left.at, left_end), _line_ends(self.right.text, self.right.at, right_end)
        if len(left_lines) == len(right_lines):
            for ends in zip(left_lines, right_lines, strict=True):
                self._show(*ends)
                self._flush()
        self._show(left_end, right_end)

    def _break_line(self) -> None:
        if self.left.at_line_start and self.right.at_line_start:
            self._flush()

    def _flush(self) -> None:
        left, right = ("".join(cell) for cell in self._cells)
        texts = self.left.text[self._row_start[0] : self.left.at], self.right.text[self._row_start[1] : self.right.at]
        self._row_start = self.left.at, self.right.at
        for cell in self._cells:
            cell.clear()
        if not left and not right:
            return
        self._rows.append(row(left, right, "row same" if texts[0].strip() == texts[1].strip() else "row"))

    def _cut_off(self) -> str:
        self._flush()
        rest = len(self.left.text) - self.left.at, len(self.right.text) - self.right.at
        places = self.left.skip(len(self.left.text)) + self.right.skip(len(self.right.text))
        self._rows.append(
            f'<div class="fold left-out" id="cut-off">{places}The view ends here: {rest[0]:,} characters of the left text and '
            f"{rest[1]:,} of the right text follow. At most {MAX_SHOWN:,} characters per side and {MAX_STRETCHES:,} changed stretches are "
            "shown. Score, shares and measures cover everything.</div>"
        )
        return "".join(self._rows)


def _context(text: str, span: Span) -> tuple[int, int]:
    """Where the shown beginning of a kept stretch ends, and where its shown end begins: between lines or words if possible."""
    start, end = span
    head = text.rfind("\n", start + CONTEXT // 4, start + CONTEXT)
    if head < 0:
        head = text.rfind(" ", start + CONTEXT // 2, start + CONTEXT)
    tail = text.find("\n", end - CONTEXT, end - CONTEXT // 4)
    if tail < 0:
        tail = text.find(" ", end - CONTEXT, end - CONTEXT // 2)
    return head + 1 if head >= 0 else start + CONTEXT, tail + 1 if tail >= 0 else end - CONTEXT


def _line_ends(text: str, start: int, end: int) -> list[int]:
    ends: list[int] = []
    at = text.find("\n", start, end)
    while at >= 0:
        ends.append(at + 1)
        at = text.find("\n", at + 1, end)
    return ends
