"""Pages from several sides, and compared by la.compare: scores, explanation, the HTML page."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import lookalike as la
from browser import Browser
from lookalike.comparison import page_trees
from lookalike.pages.scores import METHODS
from lookalike.pages.views import PageViews, share, views_of

WORDS = ["tea", "coffee", "water", "garden", "window", "paper", "river", "stone", "letter", "summer", "winter", "kitchen", "table", "music", "silver", "morning", "engine", "island", "forest", "bridge"]  # fmt: skip


def article(number: int, paragraphs: int) -> str:
    """An article of one template: the same frame, other words."""
    texts = [
        " ".join(WORDS[(number * 7 + paragraph * 3 + place * (number + 2)) % len(WORDS)] + str(number) for place in range(30))
        for paragraph in range(paragraphs)
    ]
    return (
        f"<html><head><title>Article {number}</title><link rel=stylesheet href=a.css></head><body><nav class=top>"
        + "".join(f"<li class=item><a href=/{name}>{name}</a>" for name in WORDS)
        + f"</nav><article class=main><h1>{texts[0][:30]}</h1>"
        + "".join(f"<p class=text>{text}</p>" for text in texts)
        + "</article><form action=/search><input name=q type=search></form><footer class=bottom><p>Imprint</p></footer></body></html>"
    )


@pytest.mark.parametrize(("first", "second"), [(3, 3), (4, 9), (5, 20)])
def test_two_articles_of_one_template(first: int, second: int) -> None:
    left, right = la.page(article(1, first)), la.page(article(2, second))
    assert la.compare(left, right, method="structure").score >= 0.9
    assert la.compare(left, right, method="style").score >= 0.9
    assert la.compare(left, right, method="content").score <= 0.2


def test_structure_sees_a_node_move_to_another_parent() -> None:
    left = la.page("<div><p>a</p><h2>b</h2></div><section><ul></ul></section>")
    right = la.page("<div><p>a</p></div><section><ul></ul><h2>b</h2></section>")
    assert la.compare(left, right, method="structure").score < 0.95
    assert la.compare(left, left, method="structure").score == 1.0


def test_each_view_sees_its_own() -> None:
    base = "<p class=a style='color: red; margin:0'>one two three four</p><a href=/x>link</a><form action=/s><input name=q></form>"
    changes = {
        "style": base.replace("class=a", "class=b"),
        "links": base.replace("/x", "/y"),
        "forms": base.replace("name=q", "name=r"),
        "text": base.replace("three", "five"),
        "content": base.replace("three", "five"),
        "structure": base.replace("<form", "<div></div><form"),
    }
    for view, changed in changes.items():
        scores = la.compare(la.page(base), la.page(changed)).measures
        assert scores[view] < 1.0, view
        untouched = set(changes) - {view} - ({"text", "content"} if view in ("text", "content") else set())
        untouched -= {"style"} if view == "structure" else set()  # a new tag looks like something, too
        assert all(scores[other] == 1.0 for other in untouched), (view, scores)


def test_bags() -> None:
    assert share({}, {}) == 1.0
    assert share({"a": 1}, {}) == 0.0
    assert share({"a": 1, "b": 4}, {"b": 7}) == pytest.approx(2 * 3 / (1 + 3 + 3))
    assert share({"b": 7}, {"a": 1, "b": 4}) == share({"a": 1, "b": 4}, {"b": 7})


def test_texts_leave_out_what_cannot_be_read() -> None:
    page = la.page("<title>T</title><nav>Home</nav><p>tea <a href=x>link</a> cake</p><noscript>no</noscript><template>t</template>")
    views = views_of(page)
    assert views.visible_text().split() == ["Home", "tea", "link", "cake"]
    assert views_of(page) is views
    assert PageViews(la.page("<a href=x>only a link</a>")).content == views_of(la.page("<p>only a link")).content


def test_compare_by_method() -> None:
    left, right = la.page(article(1, 3)), la.page(article(1, 4))
    every = la.compare(left, right)
    assert every.kind == "page"
    assert set(every.measures) == {*METHODS} - {"all"}
    assert every.score == sum(every.measures[view] for view in ("style", "forms", "text")) / 3
    for method in METHODS[1:]:
        found = la.compare(left, right, method=method)
        assert found.score == every.measures[method]
        assert found.signature["score"] == f"{method}-1"
    assert every.signature["score"] == "page-1"
    assert every.to_dict()["tags"]["body"]["new"] == 2
    assert la.compare(left, right, method="tags", align="order", weight=0.25).tags.weight == 0.25
    json.dumps(every.to_dict())


def test_wrong_arguments() -> None:
    page = la.page("<p>x")
    for options, message in [
        ({"method": "best"}, "method="),
        ({"measures": ["cosine"]}, "measures and ignore are for texts"),
        ({"align": "x"}, "align="),
    ]:
        with pytest.raises(la.InputError, match=message):
            la.compare(page, page, **options)
    with pytest.raises(la.InputError, match="for pages only"):
        la.compare("a", "b", method="tags")
    with pytest.raises(la.InputError, match="belong to method"):
        la.compare(page, page, method="style", align="best")
    with pytest.raises(la.InputError, match="for pages only"):
        la.compare(page, "text", method="tags")
    assert la.compare(page, "x").kind == "text"  # a page beside a text counts by its main text


def test_command_line(tmp_path: Path) -> None:
    paths = [tmp_path / "a.html", tmp_path / "b.html"]
    for path, paragraphs in zip(paths, (3, 4), strict=True):
        path.write_text(article(1, paragraphs), encoding="utf-8")
    code = "import sys; from lookalike.cli import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", code, "compare", *map(str, paths), "--as", "page"]
    done = subprocess.run(
        [*command, "--json", "--method", "tags", "--weight", "tags"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["score"] == la.compare(*map(la.page, paths), method="tags", weight="tags").score
    report = tmp_path / "out.html"
    done = subprocess.run([*command, "--html", str(report)], capture_output=True, text=True, timeout=60, check=False)
    assert "body 0." in done.stdout
    assert "Tags side by side" in report.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as running:
        yield running


HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"><p title='\"><svg onload=x>'>\u202ex</p>"
)


def test_hostile_pages_do_not_act(browser: Browser, tmp_path: Path) -> None:
    comparison = la.compare(la.page(HOSTILE), la.page(HOSTILE.replace("<p", "<b class='\"><script>1</script>'>n</b><p")))
    path = tmp_path / "r.html"
    path.write_text(comparison.to_html(), encoding="utf-8")
    browser.open(path)
    assert browser.run("document.title").endswith(comparison.verdict)
    assert browser.run("document.querySelectorAll('script').length") == 1
    assert browser.run("document.querySelectorAll('.view img, .view svg, .view p').length") == 0
    assert all(address.startswith(("file:", "data:")) for address in browser.requests)


@pytest.mark.parametrize("width", [360, 1200])
def test_trees_side_by_side(browser: Browser, tmp_path: Path, width: int) -> None:
    path = tmp_path / "r.html"
    nested = "<div>" * 200 + "x" * 3_000
    path.write_text(la.compare(la.page(article(1, 5) + nested), la.page(article(1, 6) + nested)).to_html(), encoding="utf-8")
    browser.open(path, width=width)
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run("document.querySelectorAll('.trees .new').length") == 2
    assert browser.run("document.querySelectorAll('.trees details.fold').length") >= 1
    assert len(base64.b64decode(browser.call("Page.captureScreenshot")["data"])) > 5_000


def test_many_rows_are_cut_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_trees, "MAX_ROWS", 10)
    shown = la.compare(la.page("<p>x</p>" * 30), la.page("<p>y</p>" * 30), method="tags").to_html()
    assert "50 more rows are not shown" in shown
