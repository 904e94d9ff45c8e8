"""Bars as SVG: upright ones for distributions, lying ones for named amounts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lookalike.comparison.escaping import attribute

WIDTH = 720
RIGHT = 16
HEIGHT = 170
LABEL_WIDTH = 110


class Bar(NamedTuple):
    label: str
    value: float
    tip: str


def upright(title: str, bars: Sequence[Bar]) -> str:
    """A distribution. Every label is under its bar."""
    left, top = 60, 20
    largest = max((bar.value for bar in bars), default=0) or 1
    width = (WIDTH - left - RIGHT) / max(len(bars), 1)
    parts = []
    for share in (0, 0.5, 1):
        y = top + HEIGHT * (1 - share)
        parts.append(f'<line class="grid" x1="{left}" x2="{WIDTH - RIGHT}" y1="{y:g}" y2="{y:g}"/>')
        parts.append(_text(left - 6, y + 4, f"{largest * share:,.0f}", "end"))
    for i, bar in enumerate(bars):
        tall = HEIGHT * bar.value / largest
        parts.append(_rect(left + i * width + 1, top + HEIGHT - tall, width - 2, tall, bar.tip))
        parts.append(_text(left + (i + 0.5) * width, top + HEIGHT + 18, bar.label, "middle"))
    return _svg(title, top + HEIGHT + 28, parts)


def lying(title: str, bars: Sequence[Bar]) -> str:
    """Named amounts, one under the other, each with its tip behind it."""
    row, room = 26, WIDTH - LABEL_WIDTH - 200
    largest = max((bar.value for bar in bars), default=0) or 1
    parts = []
    for i, bar in enumerate(bars):
        y, long = 6 + i * row, room * bar.value / largest
        parts.append(_text(LABEL_WIDTH - 8, y + 14, bar.label, "end"))
        parts.append(_rect(LABEL_WIDTH, y, long, 20, bar.tip))
        parts.append(_text(LABEL_WIDTH + long + 8, y + 14, bar.tip, "start"))
    return _svg(title, 12 + len(bars) * row, parts)


def _svg(title: str, height: float, parts: Sequence[str]) -> str:
    label = attribute(title)
    drawn = f'<svg viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{label}"><title>{label}</title>{"".join(parts)}</svg>'
    return f"<div class=wide>{drawn}</div>"


def _rect(x: float, y: float, width: float, height: float, tip: str) -> str:
    if width <= 0 or height <= 0:
        return ""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"><title>{attribute(tip)}</title></rect>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{attribute(text)}</text>'
