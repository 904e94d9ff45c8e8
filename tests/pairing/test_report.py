"""The report in a browser: what it shows, that it asks for nothing, and that everything works by keyboard."""

from __future__ import annotations

import base64
import gzip
import json
import random
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lookalike as la
from browser import Browser

ROOT = Path(__file__).parent.parent.parent
CLASS = ROOT / "examples" / "class"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as started:
        yield started


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(la.pairs(CLASS).to_html(), encoding="utf-8")
    return path


def opened(browser: Browser, page: Path, **options: Any) -> Browser:
    browser.open(page, **options)
    until(browser, "!!document.getElementById('language')")
    return browser


def until(browser: Browser, condition: str) -> None:
    for _ in range(200):
        if browser.run(condition):
            return
        time.sleep(0.05)
    raise AssertionError(condition)


def press(browser: Browser, key: str) -> None:
    browser.run(
        f"document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {{key: {json.dumps(key)}, bubbles: true, cancelable: true}}))"
    )


def packed(html: str) -> Any:
    found = re.search(r'id="data">([^<]*)<', html)
    assert found
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


def test_the_list_and_no_request(browser: Browser, page: Path) -> None:
    opened(browser, page)
    rows = browser.run("[...document.querySelectorAll('[data-row]')].map(row => row.innerText.split(/\\s+/).filter(Boolean))")
    assert [row[:3] for row in rows] == [["0.34", "anna.txt", "ben.txt"], ["0.30", "fang.txt", "gao.txt"], ["0.23", "dora.txt", "emil.txt"]]
    assert [url for url in browser.requests if not url.startswith("data:")] == [page.as_uri()]


def test_the_threshold(browser: Browser, page: Path) -> None:
    opened(browser, page)
    assert browser.run("document.querySelectorAll('.graph circle').length") == 6
    browser.run("const s = document.getElementById('threshold'); s.value = 0.25; s.dispatchEvent(new Event('input'))")
    assert browser.run("document.querySelectorAll('[data-row]').length") == 2
    assert browser.run("document.querySelectorAll('.graph circle').length") == 4


def test_side_by_side_by_keyboard(browser: Browser, page: Path) -> None:
    opened(browser, page)
    press(browser, "ArrowDown")
    assert browser.run("document.activeElement.dataset.row") == "0"
    press(browser, "ArrowDown")
    press(browser, "ArrowUp")
    press(browser, "Enter")
    until(browser, "document.querySelectorAll('.side').length === 2")
    hot = "[...document.querySelectorAll('mark.hot')].map(mark => mark.textContent)"
    first = browser.run(hot)
    assert len(first) == 2
    assert first[0] == first[1]
    assert first[0].startswith("Asphalt stores the heat")
    press(browser, "n")
    assert browser.run(hot)[0].startswith("A young tree needs water")
    assert "Passage 2 of 2" in browser.run("document.getElementById('status').textContent")
    press(browser, "j")
    until(browser, "location.hash === '#pair/1'")
    assert browser.run(hot)[0].startswith("暴雨落在光秃秃的石板上")
    assert browser.run("document.querySelector('.side pre').lang") == "zh"
    press(browser, "Escape")
    until(browser, "!!document.querySelector('[data-row]')")
    assert browser.run("document.activeElement.dataset.row") == "1"


def test_names_and_language(browser: Browser, page: Path) -> None:
    opened(browser, page)
    press(browser, "h")
    assert "anna" not in browser.run("document.getElementById('app').innerText")
    assert "Document 1" in browser.run("document.getElementById('app').innerText")
    browser.run("document.getElementById('language').click()")
    assert browser.run("document.documentElement.lang") == "zh"
    assert "文档 1" in browser.run("document.getElementById('app').innerText")
    assert browser.run("document.activeElement.id") == "language"


def test_filter_and_matrix(browser: Browser, page: Path) -> None:
    opened(browser, page)
    press(browser, "/")
    assert browser.run("document.activeElement.id") == "filter"
    browser.run("const f = document.getElementById('filter'); f.value = 'GAO'; f.dispatchEvent(new Event('input'))")
    assert browser.run("document.querySelectorAll('[data-row]').length") == 1
    press(browser, "Escape")
    press(browser, "m")
    until(browser, "!!document.querySelector('canvas.matrix')")
    assert browser.run("document.querySelector('canvas.matrix').width") == 6 * 24  # those that share something


@pytest.mark.parametrize(("width", "dark"), [(1200, True), (400, False)])
def test_fits_the_screen(browser: Browser, page: Path, width: int, dark: bool) -> None:
    opened(browser, page, width=width, dark=dark)
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")
    browser.run("location.hash = '#pair/0'")
    until(browser, "document.querySelectorAll('.side').length === 2")
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")


def test_hostile_texts_stay_texts(browser: Browser, tmp_path: Path) -> None:
    shared = " ".join(f"<img src=x onerror=alert({n})></script><b>&amp; 𝒳{n}</b>" for n in range(10))
    for name, text in (("</script><i>.txt".replace("/", "∕"), f"😀 one {shared}"), ("b.txt", f"{shared} two 😀")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    out = tmp_path / "out.html"
    out.write_text(la.pairs(tmp_path).to_html(), encoding="utf-8")
    opened(browser, out)
    browser.run("location.hash = '#pair/0'")
    until(browser, "document.querySelectorAll('.side').length === 2")
    assert browser.run("document.querySelectorAll('img, #app i, #app .side b').length") == 0
    text = browser.run("document.querySelector('mark').textContent")
    assert text.startswith("img src=x onerror=alert(0)")
    assert "𝒳9" in text


def test_anonymous_means_no_names_in_the_file() -> None:
    report = la.pairs(CLASS)
    data = packed(report.to_html(anonymous=True))
    assert [thing["name"] for thing in data["things"]] == [f"#{n}" for n in range(1, 9)]
    assert "anna" not in json.dumps(data)
    assert "anna.txt" in json.dumps(packed(report.to_html()))


def test_five_hundred_essays_are_below_five_megabytes(tmp_path: Path) -> None:
    generator = random.Random(1)
    words = ["".join(generator.choices("abcdefghijklmnopqrstuvwxyz", k=generator.randrange(2, 11))) for _ in range(20_000)]
    path = tmp_path / "essays.jsonl"
    passages = [" ".join(generator.choices(words, k=60)) for _ in range(250)]
    rows = [f"{' '.join(generator.choices(words, k=800))} {passages[n // 2]}" for n in range(500)]
    path.write_text("".join(json.dumps({"id": n, "text": row}) + "\n" for n, row in enumerate(rows)))
    report = la.pairs(path)
    assert report.total == 250
    page = report.to_html()
    assert len(page.encode()) < 5_000_000
    assert sum(thing["parts"] is not None for thing in packed(page)["things"]) > 400
