"""The page in a real browser: each view does its main job."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lookalike as la
from running_service import Running, running

sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect
expect.set_options(timeout=20_000)  # a machine may be busy
CHROMIUM = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: apt-get install chromium"),
    pytest.mark.xdist_group("service page"),  # they share one service and one browser
]
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
    expect(page.get_by_text("1 change", exact=True)).to_be_visible()
    page.keyboard.press("n")
    expect(page.locator("#live")).to_contain_text("Change 1 of")
    page.click("button[aria-label='Swap sides']")
    expect(page.locator("table.diff .m.reworded").first).to_have_text("new")


def test_what_words_do_not_tell_is_said(page: Any) -> None:
    """The service withholds its verdict, and so does the page."""
    page.fill("#in-left", "价格100元")
    page.fill("#in-right", "价格1000元")
    page.click("button.primary")
    page.wait_for_selector(".dial")
    expect(page.locator(".dial .small")).to_have_text("alike in wording · threshold 0.8")
    expect(page.locator(".meaning")).to_contain_text("numbers differ: 100, 1000")


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
    assert page.locator(".hit h2").first.inner_text().startswith("zh-flood")
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


def test_all_against_all(page: Any, service: Running) -> None:
    page.evaluate("location.hash = '#/library/matrix'")
    page.wait_for_selector(".matrix td button")
    found = service.ask("POST", "/pairs", {})[1]
    best = found["pairs"][0]
    assert page.locator("ol.ranked button span").first.inner_text() == f"{best['left']} · {best['right']}"
    assert page.locator(".matrix tbody tr").count() == 40  # of the best pairs; the list has all
    assert page.locator("ol.ranked button").count() == 50
    page.click("text=Show 50 more")
    expect(page.locator("ol.ranked button")).to_have_count(100)
    marked = sum(pair["score"] >= 0.25 for pair in found["pairs"])
    expect(page.locator(".controls p")).to_contain_text(f"{found['total']} pairs share passages, {marked} from the threshold on")
    page.focus(".matrix td button[tabindex='0']")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.closest('td').cellIndex") == 3
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[open] table.diff")
    assert page.locator("dialog[open] a").count() == 1
    page.keyboard.press("Escape")


def test_names_are_hidden_at_will(page: Any, service: Running) -> None:
    ids = [each["id"] for each in service.ask("GET", "/documents?limit=1000")[1]["documents"]]
    page.evaluate("location.hash = '#/library/matrix'")
    page.wait_for_selector(".matrix td button")
    page.check("text=Hide names")
    expect(page.locator("ol.ranked button span").first).to_contain_text("Document ")
    page.locator("ol.ranked button").first.click()
    page.wait_for_selector("dialog[open] table.diff")
    assert page.locator("dialog[open] a").count() == 0  # its address would name them
    heads = page.locator("dialog[open] h2, dialog[open] .heads").all_inner_texts()
    everywhere = " ".join([page.locator(".explore").inner_html(), *heads])
    assert [id_ for id_ in ids if str(id_) in everywhere] == []
    page.keyboard.press("Escape")
    with page.expect_download() as download:
        page.click("text=Download report")
    report = Path(download.value.path()).read_text(encoding="utf-8")
    assert "#1" in report
    assert "zh-flood" not in report


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
        with running(tmp_path, str(tmp_path / "store"), "--processes", "1", "--quiet", port=first.port):
            page.click("button.primary")
            page.wait_for_selector(".dial")
            page.evaluate("location.hash = '#/library'")  # a view that had not been loaded yet
            page.wait_for_selector(".upload")
        page.close()


def test_two_tabs(browser: Any, service: Running) -> None:
    one, two = (browser.new_page(locale="en-GB") for _ in range(2))
    try:
        for page in (one, two):
            page.goto(f"{service.address}/#/library")
            page.wait_for_selector("table.list tbody tr")
        one.set_input_files(".upload input[type=file]", _file("tab.jsonl", '{"id": "tab", "text": "a text of the first tab"}\n'))
        expect(one.locator(".upload")).to_contain_text("1 added")
        for page in (one, two):
            page.fill("input[type=search]", "first tab")
            expect(page.locator("table.list tbody tr")).to_have_count(1)
            page.check("table.list tbody input")
        one.click(".controls button:has-text('Remove')")
        one.wait_for_selector(".toast")
        two.click(".controls button:has-text('Remove')")  # it is gone meanwhile
        expect(two.locator(".toast")).to_contain_text("0 removed")
        expect(two.locator("table.list tbody")).to_contain_text("No document contains this")
        one.click(".toast button.link")
        expect(one.locator("table.list tbody tr td label")).to_contain_text("tab")
        assert service.ask("DELETE", "/documents/tab")[0] == 200
    finally:
        one.close()
        two.close()


def _file(name: str, content: str) -> dict[str, Any]:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": content.encode()}


def test_tables_are_added_row_by_row(page: Any, service: Running) -> None:
    page.evaluate("location.hash = '#/library'")
    page.wait_for_selector("table.list tbody tr")
    rows = 'id,text,site\r\nc1,"a text, with ""quotes"" and\na second line",a\r\n,"a row without an id",b\r\n'
    page.set_input_files(".upload input[type=file]", _file("rows.csv", rows))
    expect(page.locator(".upload")).to_contain_text("2 added")
    assert service.ask("GET", "/documents/c1")[1] == {"id": "c1", "text": 'a text, with "quotes" and\na second line', "meta": {"site": "a"}}
    assert service.ask("GET", "/documents/rows.csv-2")[1]["meta"] == {"site": "b"}
    page.set_input_files(".upload input[type=file]", _file("other.csv", "id,body\n1,x\n"))
    expect(page.locator(".upload .skipped")).to_be_visible()
    expect(page.locator(".upload")).to_contain_text("has no column")
    for id_ in ("c1", "rows.csv-2"):
        assert service.ask("DELETE", f"/documents/{id_}")[0] == 200


def test_many_lines_have_progress_and_a_status_each(page: Any, service: Running) -> None:
    assert service.ask("POST", "/collections", {"name": "many", "kinds": ["simhash"]})[0] == 201
    page.goto(f"{service.address}/?collection=many#/library")
    page.wait_for_selector("p.empty")
    lines = "".join(json.dumps({"id": f"many-{number}", "text": f"one of many, {number}"}) + "\n" for number in range(2500)) + "broken\n"
    page.set_input_files(".upload input[type=file]", _file("many.jsonl", lines))
    expect(page.locator(".upload")).to_contain_text("2,500 added, 0 updated, 1 skipped", timeout=120_000)
    assert page.locator(".upload .skipped").evaluate("each => each.parentElement.innerText").split()[0] == "2,501"
    assert page.locator(".upload progress").get_attribute("value") == "1"
    # Only rows near the screen are in the table, however far one scrolls.
    count = page.locator(".controls .num")
    for _ in range(100):
        if int(count.inner_text().split()[0].replace(",", "")) >= 1000:
            break
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        page.wait_for_timeout(100)
    assert int(count.inner_text().split()[0].replace(",", "")) >= 1000
    assert page.locator("table.list tbody tr").count() < 800
    assert service.ask("DELETE", "/collections/many")[1]["removed"] == 2500


def test_any_two_of_a_cluster_side_by_side(page: Any) -> None:
    page.evaluate("location.hash = '#/library/clusters?t=0.3'")
    page.wait_for_selector("svg.graph g.keep")
    page.locator("ol.ranked button").first.click()
    boxes = page.locator("ol.members input[type=checkbox]")
    expect(boxes.nth(2)).to_be_visible()
    boxes.nth(1).check()
    boxes.nth(2).check()
    page.locator(".members-box p.row button").click()
    page.wait_for_selector("dialog[open] table.diff")
    link = page.locator("dialog[open] a").get_attribute("href")
    page.keyboard.press("Escape")
    page.evaluate("link => location.hash = link", link)
    page.wait_for_selector("#main .dial")  # the link opens the comparison of the two stored documents again


def test_right_to_left(page: Any) -> None:
    text = "هذا نص عربي طويل عن الجسر القديم فوق النهر الذي تم إصلاحه قبل الشتاء"
    page.fill("#in-left", text)
    page.fill("#in-right", text.replace("القديم", "الجديد"))
    page.click("button.primary")
    page.wait_for_selector("table.diff .m.reworded")
    assert page.locator("table.diff td[dir=auto]").first.evaluate("each => getComputedStyle(each).direction") == "rtl"
    assert page.locator("table.diff .m.reworded").first.inner_text() == "القديم"


@pytest.mark.parametrize("joined", ["\n", " "])
def test_a_long_pair_is_drawn_where_it_is_looked_at(page: Any, joined: str) -> None:
    lines = [f"line {number} of a long text 👩‍👩‍👧 about the river {number * 7} and its bridges" for number in range(6000)]
    other = [line.replace("river", "lake") if number % 50 == 49 else line for number, line in enumerate(lines)]
    for side, text in (("left", lines), ("right", other)):
        page.evaluate(
            "([side, text]) => { const area = document.querySelector('#in-' + side); area.value = text; area.dispatchEvent(new Event('input')); }",
            [side, joined.join(text)],
        )
    page.click("button.primary")
    page.wait_for_selector("table.diff tbody tr", timeout=90_000)
    assert page.locator("table.diff tr").count() < 600
    page.keyboard.press("p")  # the last change, far below
    expect(page.locator(".m.cur").first).to_be_in_viewport()
    assert page.locator(".m.cur").first.inner_text() == "river"
    page.keyboard.press("u")  # everything unfolded
    assert page.locator("table.diff tr").count() < 1000
    page.locator("ol.passages button").last.click()
    expect(page.locator(".flash").first).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280  # no line makes the page wider
    # The browser's own search would not see what is not drawn: the page has one.
    page.keyboard.press("Control+f")
    page.keyboard.type("TEXT 👩‍👩‍👧 about the river 20993 and")
    expect(page.locator(".find .num")).to_have_text("1 found")  # on the right it is a lake
    page.keyboard.press("Enter")
    expect(page.locator(".find .num")).to_have_text("1 / 1")
    lit = "(() => { const [range] = CSS.highlights.get('found'), box = range.getBoundingClientRect(); return [String(range), box.top > 0 && box.bottom < innerHeight]; })()"
    assert page.evaluate(lit) == ["text 👩‍👩‍👧 about the river 20993 and", True]


def test_a_word_without_end_stays_in_its_column(page: Any) -> None:
    page.fill("#in-left", "x" * 9000 + " end")
    page.fill("#in-right", "x" * 9000 + " fin")
    page.click("button.primary")
    page.wait_for_selector("table.diff tbody tr")
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_a_bar_leads_to_its_pairs_and_to_one_pair(page: Any) -> None:
    page.evaluate("location.hash = '#/feedback?demo=1'")
    page.wait_for_selector(".plots .vrow")
    bar = page.locator(".plots .vrow").nth(1)
    count = bar.locator(".num").inner_text().split()[0]
    bar.click()
    expect(page.locator(".filters .num")).to_have_text(count)
    page.locator("table.list tbody tr").first.click()
    page.wait_for_selector("dialog[open] table.diff")


def test_pairs_from_a_table(page: Any) -> None:
    page.evaluate("location.hash = '#/feedback'")
    page.wait_for_selector("input[type=file]", state="attached")
    rows = "draft,final,model\nthe first draft of a text,the first draft of a text,a\nanother draft,something else entirely,b\n"
    page.set_input_files("input[type=file]", _file("pairs.csv", rows))
    expect(page.locator(".lead")).to_contain_text("2 pairs")


def test_add_it_and_it_is_a_repost(page: Any, service: Running) -> None:
    page.evaluate("location.hash = '#/search'")
    page.wait_for_selector(".query textarea")
    text = "Nobody has ever written this sentence about seven violet lighthouses before today."
    page.fill(".query textarea", text)
    page.click(".query button.primary")
    page.click("button:has-text('Add as new')")
    expect(page.locator(".toast").first).to_contain_text("Added as")
    expect(page.locator(".hit")).to_have_count(1)
    page.locator(".hit button:has-text('It is a repost')").click()
    expect(page.locator(".toast").last).to_contain_text("Marked as a repost")
    stored = list(service.ask("GET", "/documents?contains=lighthouses")[1]["documents"])
    assert len(stored) == 2
    assert stored[1]["meta"]["repost_of"] == stored[0]["id"]
    for each in stored:
        service.ask("DELETE", f"/documents/{each['id']}")


@pytest.mark.parametrize(
    "where",
    [
        "compare",
        "compare?sample=zh",
        "compare?sample=page",
        "search?q=1",
        "library",
        "library/clusters?t=0.5",
        "library/matrix",
        "feedback?demo=1",
    ],
)
def test_accessibility(browser: Any, service: Running, where: str) -> None:
    """axe-core finds nothing against WCAG 2.2 AA and its own best practice, in either theme."""
    page = browser.new_page(viewport={"width": 1280, "height": 900}, locale="en-GB", bypass_csp=True, reduced_motion="reduce")
    try:
        page.goto(f"{service.address}/?theme=light#/{where}")
        page.wait_for_selector(".dial, .hit, table.list tbody tr, svg.graph g.keep, .matrix td, .plots .vrow, #in-left")
        page.wait_for_load_state("networkidle")
        page.add_script_tag(path=_axe())
        for theme in ("light", "dark"):
            page.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
            found = page.evaluate(
                "async () => (await axe.run()).violations.map(each => [each.id, each.impact, each.nodes.slice(0, 3).map(node => node.html)])"
            )
            assert found == [], theme
    finally:
        page.close()


def _axe() -> str:
    return str(Path(pytest.importorskip("axe_playwright_python").__file__).parent / "axe.min.js")


def test_every_word_is_there_in_both_languages() -> None:
    folder = Path(la.__file__).parent / "service" / "static"
    words = dict(
        re.findall(r"\b(\w+): \[('(?:[^'\\\\]|\\\\.)*', '(?:[^'\\\\]|\\\\.)*')\]", (folder / "i18n.js").read_text(encoding="utf-8"))
    )
    asked = {name for path in folder.glob("*.js") for name in re.findall(r"\bt\('(\w+)'[,)]", path.read_text(encoding="utf-8"))}
    assert len(asked) > 100
    assert asked - set(words) == set()


def test_the_views_are_small(browser: Any, service: Running) -> None:
    """Everything that a browser asks for before the first view stands: 100 KB, 40 KB as it travels. Any other view: 20 KB more."""
    page = browser.new_page(locale="en-GB")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{service.address}/")
    page.wait_for_selector("#in-left")
    page.wait_for_load_state("networkidle")
    names = [url.removeprefix(service.address) for url in asked if not url.startswith("data:")]
    assert all(name.startswith("/") for name in names)  # nothing from elsewhere
    assert sum(len(service.raw("GET", name)[2]) for name in names) <= 100_000
    assert sum(len(service.raw("GET", name, headers={"Accept-Encoding": "gzip"})[2]) for name in names) <= 40_000
    for view, stands in (
        ("search", ".query"),
        ("library", ".upload"),
        ("library/clusters", "svg.graph"),
        ("library/matrix", ".matrix"),
        ("feedback", ".empty"),
    ):
        page.goto(f"{service.address}/")  # without what other views have loaded
        page.wait_for_selector("#in-left")
        asked.clear()
        page.evaluate("view => location.hash = `#/${view}`", view)
        page.wait_for_selector(stands)
        own = {url for url in asked if url.endswith((".js", ".css"))}
        assert own
        assert sum(len(service.raw("GET", url.removeprefix(service.address))[2]) for url in own) <= 20_000, own
    page.close()
