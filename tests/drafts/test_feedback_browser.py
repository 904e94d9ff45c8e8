"""The report of feedback in a real browser: on narrow screens and on paper."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import lookalike as la
from browser import Browser

DRAFTS = Path(__file__).parents[2] / "examples" / "drafts.jsonl"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as running:
        yield running


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    pairs = [{"id": "n" * 300, "draft": "x" * 400, "final": "A text of its own. " * 20, "model": "m" * 150, "time": "2024-03-04"}]
    la.feedback([*pairs, *(dict(each) for each in _examples())], by=["model", "author"]).to_html(path, title="t" * 200)
    return path


def _examples() -> Iterator[dict[str, str]]:
    import json

    yield from map(json.loads, DRAFTS.read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("width", [360, 500, 800, 1400])
def test_no_width_needs_scrolling_sideways(browser: Browser, page: Path, width: int) -> None:
    browser.open(page, width=width)
    assert browser.run("document.documentElement.scrollWidth") <= width
    wider = "[...document.querySelectorAll('body *:not(thead, thead *)')].filter(e => e.getBoundingClientRect().right > innerWidth + 1)"
    assert browser.run(f"{wider}.length") == 0


def test_plots_can_be_read_on_a_narrow_screen(browser: Browser, page: Path) -> None:
    browser.open(page, width=500)
    heights = browser.run("[...document.querySelectorAll('svg text')].map(e => e.getBoundingClientRect().height)")
    assert min(heights) >= 9


def test_cells_of_a_narrow_table_say_what_they_are(browser: Browser, page: Path) -> None:
    browser.open(page, width=500)
    names = browser.run("[...document.querySelector('tbody tr').querySelectorAll('td')].map(e => getComputedStyle(e, '::before').content)")
    assert [name.replace('"', "").strip() for name in names[1:3]] == ["pairs", "usable"]


def test_paper_shows_every_table_whole(browser: Browser, page: Path) -> None:
    browser.open(page, width=700)
    browser.call("Emulation.setEmulatedMedia", media="print")
    try:
        assert browser.run("document.documentElement.scrollWidth") <= 700
        assert browser.run("getComputedStyle(document.querySelector('tbody td')).display") == "table-cell"
        assert len(browser.call("Page.printToPDF", printBackground=True)["data"]) > 10_000
    finally:
        browser.call("Emulation.setEmulatedMedia", media="")
