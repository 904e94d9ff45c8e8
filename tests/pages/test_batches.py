"""Many pages and pairs: the same results by one process and by two."""

from __future__ import annotations

import pytest

import lookalike as la
from lookalike.pages.strings import lexical

PAGES = [
    f"<title>{number}</title><nav>Home</nav><h1>Tea {number}</h1>" + f"<p class=a>cup {number % 3} of tea</p>" * number
    for number in range(6)
]


def test_pairs_by_processes() -> None:
    pages = [la.page(html) for html in PAGES]
    pairs = [(a, b) for a in pages for b in pages]
    one, two = (la.compare_pages(pairs, workers=workers) for workers in (1, 2))
    assert one == two
    assert [found.score for found in one] == [la.compare(a, b).score for a, b in pairs]
    assert [found.measures for found in one[:8]] == [la.compare(a, b).measures for a, b in pairs[:8]]
    assert all(found.tags is None for found in one)


def test_options_travel() -> None:
    pairs = [(PAGES[0], PAGES[1]), (PAGES[2].encode(), PAGES[5])]
    found = la.compare_pages(pairs, method="tags", workers=2, align="order", strings=lexical, weights=la.TagWeights(name=2))
    assert found == la.compare_pages(pairs, method="tags", align="order", weights=la.TagWeights(name=2))
    assert set(found[0].measures) == {"tags"}


def test_fingerprints_by_processes() -> None:
    expected = [la.page_print(html) for html in PAGES]
    assert la.page_prints(PAGES) == expected
    assert la.page_prints(iter(map(la.page, PAGES)), workers=2) == expected


def test_a_mistake_in_another_process_is_told() -> None:
    with pytest.raises(la.InputError, match="too much for a page"):
        la.page_prints(["<p>x", "<" * (33 << 20)], workers=2)


def test_nothing_to_do() -> None:
    assert la.compare_pages([]) == []
    assert la.page_prints([], workers=2) == []


def test_wrong_arguments() -> None:
    pairs = [("<p>x", "<p>y")] * 3
    for workers in (0, 257, True, "2"):
        with pytest.raises(la.InputError, match="workers="):
            la.compare_pages(pairs, workers=workers)
    with pytest.raises(la.InputError, match="define functions in a module"):
        la.compare_pages(pairs, method="tags", strings=lambda a, b: 1.0, workers=2)
    with pytest.raises(la.InputError, match="method="):
        la.compare_pages(pairs, method="best")
    with pytest.raises(la.InputError, match="belong to method"):
        la.compare_pages(pairs, method="style", align="best")
    with pytest.raises(la.InputError, match="pairs of pages"):
        la.compare_pages(["<p>x"])  # type: ignore[list-item]
