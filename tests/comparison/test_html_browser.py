"""The page in a real browser: hostile text stays text, partners find each other, nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import lookalike as la
from browser import Browser

HOSTILE = (
    "</script><script>document.title='owned'</script> <img src=x onerror=\"document.title='owned'\"> <svg/onload=document.title='owned'> "
    "<a href=\"javascript:document.title='owned'\">x</a> <style>body{display:none}</style> '\"><iframe src=https://example.org></iframe> "
    "<!-- \x00 \x1b[31m \ud800 \u202egnp.exe\u202c ]]> &lt;b&gt; {{title}} https://example.org/x.js word"
)
PARAGRAPHS = [" ".join(f"{name}{number} of the text" for number in range(12)) + "." for name in ("alpha", "beta", "gamma", "delta")]
FILLER = "\n".join(f"line {number} was not changed by anyone" for number in range(400))
LEFT = "\n\n".join([PARAGRAPHS[0], PARAGRAPHS[1], FILLER, PARAGRAPHS[2], PARAGRAPHS[3]])
RIGHT = "\n\n".join([PARAGRAPHS[0].replace("alpha5 of", "omega5 in"), FILLER, PARAGRAPHS[2], PARAGRAPHS[1], PARAGRAPHS[3]])
IN_VIEW = "(e => { const b = e.getBoundingClientRect(); return b.top >= 0 && b.bottom <= innerHeight + b.height; })"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as running:
        yield running


def write(comparison: la.Comparison, folder: Path, **options: tuple[str, str]) -> Path:
    path = folder / "report.html"
    path.write_text(comparison.to_html(**options), encoding="utf-8")
    return path


def test_hostile_text_does_not_act(browser: Browser, tmp_path: Path) -> None:
    comparison = la.compare(HOSTILE, HOSTILE.replace("word", "another word"), ignore=[f"{HOSTILE[:120]}"])
    browser.open(write(comparison, tmp_path, names=("<script>document.title='owned'</script>", "'\"><img src=x onerror=document.title=1>")))
    assert browser.run("document.title").endswith(comparison.verdict)
    assert browser.run("document.querySelectorAll('script').length") == 1
    assert browser.run("document.querySelectorAll('img, iframe, .view svg, .view style, a[href^=javascript]').length") == 0
    shown = browser.run("[...document.querySelectorAll('.row:not(.head) > .l')].map(e => e.textContent).join('')")
    expected = HOSTILE
    for char in "\x00\x1b\ud800\u202e\u202c":
        expected = expected.replace(char, f"U+{ord(char):04X}")
    assert shown == expected
    assert browser.run("getComputedStyle(document.body).display") == "block"


def test_nothing_is_fetched(browser: Browser, tmp_path: Path) -> None:
    path = write(la.compare(HOSTILE, LEFT), tmp_path)
    browser.open(path)
    browser.run("new Promise(done => setTimeout(done, 300))")
    assert browser.requests[0] == path.as_uri()
    assert all(address.startswith("data:") for address in browser.requests[1:])


def test_partners_link_both_ways(browser: Browser, tmp_path: Path) -> None:
    browser.open(write(la.compare(LEFT, RIGHT), tmp_path))
    groups = browser.run("[...new Set([...document.querySelectorAll('.view [data-group]')].map(e => e.dataset.group))]")
    assert len(groups) >= 2
    for group in groups:
        for here, there in (("l", "r"), ("r", "l")):
            browser.run("scrollTo(0, 0)")
            link = f"document.getElementById('{here}{group}')"
            partner = f"document.getElementById('{there}{group}')"
            assert browser.run(f"{link}.closest('.{here}') !== null && {link}.hash") == f"#{there}{group}"
            browser.run(f"{link}.dispatchEvent(new PointerEvent('pointerover', {{bubbles: true}}))")
            assert browser.run(f"{partner}.classList.contains('hot') && {link}.classList.contains('hot')")
            browser.run(f"{link}.click()")
            assert browser.run(f"{IN_VIEW}({partner})")
            assert browser.run(f"document.activeElement === {partner}")


def test_a_link_into_a_fold_opens_it(browser: Browser, tmp_path: Path) -> None:
    copied = "\n".join(FILLER.splitlines()[200:204])
    left, right = FILLER, f"{FILLER}\n\n{copied}"
    comparison = la.compare(left, right)
    browser.open(write(comparison, tmp_path))
    assert browser.run("document.querySelectorAll('details[open]').length") == 0
    inside = browser.run("[...document.querySelectorAll('.jump')].map(e => e.hash).find(h => document.querySelector(h).closest('details'))")
    assert inside
    browser.run(f"document.querySelector('.jump[href=\"{inside}\"]').click()")
    assert browser.run(f"document.querySelector('{inside}').closest('details').open")
    assert browser.run(f"{IN_VIEW}(document.querySelector('{inside}'))")
    shown = browser.run("[...CSS.highlights.get('found')].map(range => String(range)).join('')")
    passage = comparison.passages[int(inside[3:]) - 1]
    assert shown == left[slice(*passage.left)] + right[slice(*passage.right)]


def test_the_style_applies_in_light_and_dark_and_signs_are_not_colour_alone(browser: Browser, tmp_path: Path) -> None:
    path = write(la.compare(LEFT, f"{RIGHT} {HOSTILE}"), tmp_path)
    grounds = []
    for dark in (False, True):
        browser.open(path, dark=dark)
        grounds.append(browser.run("getComputedStyle(document.body).backgroundColor"))
        lines = "[...document.querySelectorAll('.shares del, .shares ins, .shares a')]"
        styles = browser.run(f"{lines}.map(e => getComputedStyle(e).textDecorationLine + ' ' + getComputedStyle(e).textDecorationStyle)")
        assert sorted(styles) == ["line-through solid", "underline double", "underline solid", "underline wavy"]
    assert len(set(grounds)) == 2


@pytest.mark.parametrize("width", [360, 800, 1600])
def test_no_width_needs_scrolling_sideways(browser: Browser, tmp_path: Path, width: int) -> None:
    comparison = la.compare(f"{HOSTILE} {'x' * 3_000}", "指纹" * 2_000)
    browser.open(write(comparison, tmp_path, names=("n" * 300, "b")), width=width)
    assert browser.run("document.documentElement.scrollWidth") <= width


def test_it_prints(browser: Browser, tmp_path: Path) -> None:
    browser.open(write(la.compare(LEFT, RIGHT), tmp_path))
    assert len(browser.call("Page.printToPDF", printBackground=True)["data"]) > 10_000


def test_a_megabyte_opens(browser: Browser, tmp_path: Path) -> None:
    left = "\n".join(f"paragraph {number} says one thing or another about the matter" for number in range(18_200))
    assert len(left) > 1_000_000
    browser.open(write(la.compare(left, left.replace("77 says one", "77 tells another"), measures=[]), tmp_path))
    assert browser.run("document.querySelectorAll('.fold').length") > 10
