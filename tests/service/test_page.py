"""The page in a real browser: each view does its main job."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lookalike as la
from running_service import Running, running

sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect
CHROMIUM = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: apt-get install chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SCRIPT = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> 台风 👩‍👩‍👧 " + "word " * 30


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("page")
    from lookalike.service.demo import fill

    fill(str(folder / "store"))
    with la.open(folder / "store") as index:
        index.add("evil", SCRIPT, {"site": "<b>x</b>"})
        index.add("rtl", "هذا نص عربي طويل عن الجسر القديم فوق النهر الذي تم إصلاحه قبل الشتاء", {})
    with running(folder, str(folder / "store"), "--processes", "1", "--quiet") as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


@pytest.fixture
def page(browser: Any, service: Running) -> Iterator[Any]:
    found = browser.new_page(viewport={"width": 1280, "height": 900}, locale="en-GB")
    problems: list[str] = []
    found.on("pageerror", lambda error: problems.append(str(error)))
    found.on(
        "console",
        lambda message: (
            problems.append(message.text) if message.type == "error" and "Failed to load resource" not in message.text else None
        ),
    )
    found.goto(f"{service.address}/")
    yield found
    assert problems == []
    assert found.title() != "owned"
    found.close()


def test_two_pasted_texts_are_compared(page: Any) -> None:
    page.fill("#in-left", "The council decided to repair the old bridge 👩‍👩‍👧 before the winter. 台风过境后，供电恢复。")
    page.fill("#in-right", "The council decided to repair the new bridge 👩‍👩‍👧 before the winter. 台风过境后，供电恢复。")
    page.click("button.primary")
    page.wait_for_selector(".dial")
    assert page.locator("table.diff .m.reworded").first.inner_text().strip() == "old"
    page.keyboard.press("n")
    expect(page.locator("#live")).to_contain_text("Change 1 of")
    page.click("button[aria-label='Swap sides']")
    expect(page.locator("table.diff .m.reworded").first).to_have_text("new")


def test_one_side_is_missing(page: Any) -> None:
    page.fill("#in-left", "only one")
    page.click("button.primary")
    assert "empty" in page.locator(".problem").inner_text()


def test_a_search_and_its_hit_side_by_side(page: Any) -> None:
    page.evaluate("location.hash = '#/search'")
    page.wait_for_selector(".query textarea")
    page.fill(
        ".query textarea", json.loads((Path(la.__file__).parent / "service/static/examples.json").read_text(encoding="utf-8"))["queries"][0]
    )
    page.click(".query button.primary")
    page.wait_for_selector(".hit")
    assert page.locator(".hit h3").first.inner_text().startswith("zh-flood")
    page.locator(".hit button").first.click()
    page.wait_for_selector("dialog[open] table.diff")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog[open]", state="detached")


def test_a_stored_script_does_not_run(page: Any) -> None:
    page.evaluate("location.hash = '#/search'")
    page.wait_for_selector(".query textarea")
    page.fill(".query textarea", SCRIPT)
    page.click(".query button.primary")
    page.wait_for_selector(".hit")
    page.locator(".hit button").first.click()
    page.wait_for_selector("dialog[open]")
    assert page.locator("dialog[open] script").count() == 0
    assert page.title() != "owned"


def test_documents_are_listed_added_removed_and_put_back(page: Any, service: Running) -> None:
    page.evaluate("location.hash = '#/library'")
    page.wait_for_selector("table.list tbody tr")
    page.set_input_files(
        ".upload input[type=file]",
        {
            "name": "new.jsonl",
            "mimeType": "application/x-ndjson",
            "buffer": b'{"id": "up1", "text": "an uploaded text of the page"}\nbroken\n',
        },
    )
    page.wait_for_selector(".upload .skipped")
    assert "1 added" in page.locator(".upload").inner_text()
    page.fill("input[type=search]", "up1")
    expect(page.locator("table.list tbody tr")).to_have_count(1)
    page.check("table.list tbody input")
    page.click(".controls button:has-text('Remove')")
    page.wait_for_selector(".toast")
    assert service.ask("GET", "/documents/up1")[0] == 404
    page.click(".toast button.link")
    expect(page.locator("table.list tbody tr td label")).to_contain_text("up1")
    assert service.ask("GET", "/documents/up1")[0] == 200
    service.ask("DELETE", "/documents/up1")


def test_clusters(page: Any) -> None:
    page.evaluate("location.hash = '#/library/clusters?t=0.5'")
    page.wait_for_selector("svg.graph g.keep")
    page.locator("ol.ranked button").first.click()
    page.wait_for_selector("ol.members li")
    page.locator("ol.members button.link").first.click()
    page.wait_for_selector("dialog[open] table.diff")


def test_feedback(page: Any) -> None:
    page.evaluate("location.hash = '#/feedback'")
    page.click("button.primary")
    page.wait_for_selector(".plots .vrow")
    page.locator("table.list tbody tr").first.click()
    page.wait_for_selector("dialog[open]")


def test_chinese_dark_and_narrow(browser: Any, service: Running) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 844}, locale="zh-CN")
    page.goto(f"{service.address}/?theme=dark#/compare?sample=zh")
    page.wait_for_selector("table.diff.inline")
    assert page.locator("nav").inner_text().split() == ["比较", "查找", "文库", "采用情况"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.close()


def test_a_server_that_goes_away_and_comes_back(browser: Any, tmp_path: Path) -> None:
    with running(tmp_path, str(tmp_path / "store"), "--processes", "1", "--quiet") as first:
        page = browser.new_page(locale="en-GB")
        page.goto(f"{first.address}/")
        page.fill("#in-left", "one text that stays")
        page.fill("#in-right", "another text that stays")
        first.stop()
        page.click("button.primary")
        page.wait_for_selector(".problem")
        assert "does not answer" in page.locator(".problem").inner_text()
        assert page.input_value("#in-left") == "one text that stays"
        page.close()


def test_the_first_view_is_small(service: Running) -> None:
    names = ("/", "/app.js", "/core.js", "/i18n.js", "/style.css", "/compare.js", "/diff.js", "/api.js")
    raw = sum(len(service.raw("GET", name)[2]) for name in names)
    packed = sum(len(service.raw("GET", name, headers={"Accept-Encoding": "gzip"})[2]) for name in names)
    assert raw <= 100_000
    assert packed <= 40_000
