"""Fingerprints of pages, and their kernel against a slow reference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
import reference
from lookalike import _native
from lookalike.markup.page import parse_document, table_by_events
from lookalike.pages.prints import ASIDE, SIZE, STRUCTURE, content_text, outline
from lookalike.pages.views import UNSEEN, views_of

MASK = 2**64 - 1


def slow_paths(page: la.Page) -> list[int]:
    hashes: dict[int, int] = {}
    for element in page.elements:
        if not element.is_text:
            above = hashes[id(element.parent)] if element.parent else 0
            rotated = (above << 13 | above >> 51) & MASK
            hashes[id(element)] = reference.mix(rotated ^ reference.token_hash(element.name.encode()))
    return sorted(set(hashes.values()))


def slow_content(page: la.Page) -> list[str]:
    """The words of texts that stand in none of the tags left out; of all that can be read, where that is none."""
    outside = {*ASIDE, *UNSEEN, "head"}
    kept = [element for element in page.elements if element.is_text and not outside & set(element.path.split("/"))]
    return " ".join(str(element.string) for element in kept).split() or views_of(page).visible_text().split()


NAMES = st.sampled_from(["div", "p", "b", "ul", "li", "table", "tr", "td", "a", "nav", "svg"])


@given(st.lists(st.tuples(NAMES, st.booleans(), st.sampled_from(["", "tea", "two words", "\n"])), max_size=30))
def test_paths_and_content_are_those_of_the_page(pieces: list[tuple[str, bool, str]]) -> None:
    html = "".join(f"<{'/' if closes else ''}{name}>{text}" for name, closes, text in pieces)
    page = la.page(html)
    assert list(table_by_events(html).paths()) == slow_paths(page)
    assert content_text(html, parse_document(html)).split() == slow_content(page)
    paths, text = outline(html)
    assert list(paths) == slow_paths(page)
    assert text.decode().split() == slow_content(page)


PIECES = [
    "<div>",
    "</div>",
    "<p class='a>b'>",
    "</p>",
    "<pre>\n\n",
    "</pre>",
    "<script>a<b</script>",
    "<svg><g>",
    "</svg>",
    "<nav>",
    "</nav>",
    "<br>",
]
PIECES += [
    "<table>",
    "<td>",
    "<b>",
    "</b>",
    "<template>",
    "</template>",
    "<noscript>",
    "<!-- c -->",
    "&lt;&amp;nbsp;&nbsp;",
    "tea",
    "茶 ",
    "<textarea>\n",
    "\n",
]
PIECES += [
    "<plaintext>",
    "<xmp>a<i></xmp>",
    "<select><option>",
    "<math><style>a</style>",
    "<title>t",
    "</title>",
    "<head>",
    "<body>",
    "<iframe>x</iframe>",
]


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_what_the_parser_writes_is_what_it_holds(html: str) -> None:
    """Read from the written tree or from the parser: the same paths, and the same text to the last byte."""
    paths, text = outline(html)
    assert list(paths) == list(table_by_events(html).paths())
    assert text.decode() == content_text(html, parse_document(html))


def test_many_paths() -> None:
    html = "".join(f"<a{number}>" for number in range(300))
    assert len(outline(html)[0]) == 303
    assert list(outline(html)[0]) == list(table_by_events(html).paths())


@given(st.text(st.sampled_from("ab c茶。é"), max_size=60))
def test_the_prints_of_the_content_are_those_of_its_text(text: str) -> None:
    found = la.page_print(f"<p>{text}")
    assert found.content_simhash == la.simhash(text)
    assert found.content_minhash == la.minhash(text, size=SIZE)


def test_templates_and_copies() -> None:
    def article(words: str, count: int) -> str:
        return f"<nav><a href=/>Home</a></nav><article><h1>{words}</h1>" + f"<p class=x>{words} {words}</p>" * count + "</article>"

    first, longer = article("green tea from the hills in the early spring", 3), article("a long way to the sea with nobody else around", 9)
    one, template, copy = map(la.page_print, (first, longer, f"<div>{first}</div><footer>new frame</footer>"))
    assert one.similarity(template) == {"structure": 1.0, "content": 0.0}
    assert one.structure_simhash == template.structure_simhash
    assert one.similarity(copy)["content"] == 1.0
    assert one.similarity(copy)["structure"] < 1.0
    assert la.page_print(la.page(first)) == one == la.page_print(first.encode())
    assert set(one.to_dict()) == {"structure_simhash", "structure_minhash", "content_simhash", "content_minhash"}


def test_structures_cannot_be_compared_with_texts() -> None:
    found = la.page_print("<p>tea")
    assert found.structure_simhash.recipe == STRUCTURE
    with pytest.raises(la.RecipeMismatch):
        found.structure_simhash.distance(found.content_simhash)


def test_a_page_of_navigation_has_the_text_of_it() -> None:
    assert la.page_print("<nav><a href=/>green tea</a></nav>").content_simhash == la.simhash("green tea")
    assert la.page_print("<nav>Home</nav><p>green <a href=/>tea</a>").content_simhash == la.simhash("green tea")
    assert la.page_print("").content_simhash == la.simhash("")


def test_the_kernel_checks_what_it_gets() -> None:
    empty = _native.read_outline("", "", "")
    assert empty is not None
    assert (list(empty[0]), empty[1]) == ([], b"")
    assert list(_native.PageBuilder(1).finish().paths()) == []
    with pytest.raises(TypeError):
        _native.read_outline(b"<p>", "", "")  # type: ignore[arg-type]
    with pytest.raises(UnicodeEncodeError):
        _native.read_outline("\ud800", "", "")
