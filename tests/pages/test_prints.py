"""Fingerprints of pages, and their kernel against a slow reference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
import reference
from lookalike import _native
from lookalike.markup.page import parse_document
from lookalike.pages.prints import ASIDE, STRUCTURE, content_text, path_hashes
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
    assert list(path_hashes(parse_document(html))) == slow_paths(page)
    assert content_text(html, parse_document(html)).split() == slow_content(page)


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
    root, child = object(), object()
    assert list(_native.path_hashes([], [], [])) == []
    assert len(_native.path_hashes([root, child], [None, root], ["a", "b"])) == 2
    with pytest.raises(ValueError, match="one a tag"):
        _native.path_hashes([root], [], ["a"])
    with pytest.raises(TypeError):
        _native.path_hashes([root], [None], [b"a"])
    with pytest.raises(TypeError):
        _native.path_hashes((root,), [None], ["a"])
