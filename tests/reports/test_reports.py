"""Every report has one frame and one look: the same style sheet, the same policy, the same marks, and nothing that acts."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import pytest

import lookalike as la
from lookalike.reports.plots import Bar, upright
from lookalike.reports.tables import Markup, table

HOSTILE = "</style><script>alert(1)</script> \x00 \x1b[31m \u202egnp.exe\u202c \ud800 \"'& "
TEXT = "The library opens on Monday, and readers may book a seat for the reading room in advance. " * 3


def reports() -> dict[str, str]:
    left, right = HOSTILE + TEXT, HOSTILE + TEXT.replace("Monday", "Tuesday", 1)
    return {
        "comparison": la.compare(left, right).to_html(names=(HOSTILE, "b")),
        "record": la.compare({HOSTILE: left}, {HOSTILE: right}).to_html(names=(HOSTILE, "b")),
        "feedback": la.feedback([{"id": HOSTILE, "draft": left, "final": right, "model": HOSTILE}]).to_html(title=HOSTILE),
        "dedupe": la.dedupe([{"id": f"1{HOSTILE}", "text": left}, {"id": f"2{HOSTILE}", "text": right}], threshold=0.5).to_html(
            title=HOSTILE
        ),
    }


def test_all_reports_have_one_style_that_the_policy_names() -> None:
    styles = set()
    for name, html in reports().items():
        (style,) = re.findall("<style>(.*?)</style>", html, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        assert f"style-src 'sha256-{digest}'" in html, name
        assert "unsafe-inline" not in html
        assert "prefers-color-scheme: dark" in style
        styles.add(style)
    assert len(styles) == 1


@pytest.mark.parametrize("name", ["comparison", "record", "feedback", "dedupe"])
def test_hostile_text_is_escaped_in_every_report(name: str) -> None:
    html = reports()[name]
    assert "<script>alert" not in html
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", html)
    assert "U+202E" in html
    html.encode("utf-8")


def test_edits_are_marked_alike_where_texts_stand_side_by_side() -> None:
    found = reports()
    for name in ("comparison", "dedupe"):
        assert re.search(r'<a class="reworded" id="[^"]+" href="#[^"]+" data-group="1" draggable="false">Monday</a>', found[name]), name


def test_tables_escape_all_but_markup() -> None:
    shown = table([("<b>", Markup("<i>x</i>"))], ('"name"', "b"), numbers=(1,))
    assert '<td data-name="&quot;name&quot;">&lt;b&gt;</td><td class="n" data-name="b"><i>x</i></td>' in shown


def test_labels_do_not_run_into_each_other() -> None:
    shown = upright("sizes", [Bar(f"{1 << i:,}–{(2 << i) - 1:,}", 3, "tip") for i in range(20)])
    ends: dict[str, float] = {}
    for x, y, label in re.findall(r'<text x="([\d.]+)" y="([\d.]+)" text-anchor="middle"[^>]*>([^<]+)<', shown):
        reach = 3 * len(label)  # less than any font takes
        assert float(x) - reach >= ends.get(y, 0.0)
        ends[y] = float(x) + reach
    assert len(ends) == 2


def test_reports_look_like_the_page_of_the_service() -> None:
    """The same tokens in light and dark, and the same mark for each kind of edit."""
    package = Path(la.__file__).parent
    report = (package / "reports" / "report.css").read_text(encoding="utf-8")
    page = (package / "service" / "static" / "style.css").read_text(encoding="utf-8")
    light, dark = (dict(re.findall(r"--([\w-]+): (#\w+)", part)) for part in report.split("prefers-color-scheme: dark")[:2])
    both = {name: (one, two) for name, one, two in re.findall(r"--([\w-]+):light-dark\((#\w+), (#\w+)\)", page)}
    both["surface"] = both["raise"]
    shared = (light.keys() & dark.keys()) & both.keys()
    assert len(shared) >= 16
    long = {"#fff": "#ffffff"}
    assert {name: (long.get(light[name], light[name]), dark[name]) for name in shared} == {name: both[name] for name in shared}
    marks = {"del": "deleted", "ins": "inserted", "a.moved": "moved", "a.reworded": "reworded"}
    for selector, kind in marks.items():
        ours = re.search(rf"^{re.escape(selector)} {{ background: var\(--(\w+)\); text-decoration: ([\w -]+);", report, re.MULTILINE)
        theirs = re.search(rf"^\.m\.{kind}{{background:var\(--(\w+)\);text-decoration:([\w -]+) var\(--{kind}-line\)", page, re.MULTILINE)
        assert ours is not None
        assert theirs is not None
        assert ours.groups() == theirs.groups() == (kind, ours[2])
