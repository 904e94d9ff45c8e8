"""Without the packages of the extra, everything about pages says which one to install."""

from __future__ import annotations

import subprocess
import sys

import pytest

CALLS = {
    "page": "la.page('<p>x')",
    "page_print": "la.page_print('<p>x')",
    "page_prints": "la.page_prints(['<p>x'])",
    "compare_pages": "la.compare_pages([('<p>x', '<p>y')])",
    "page_text": "page_text('<p>x')",
    "match_tags": "la.match_tags(Page('<p>x'), Page('<p>y'))",
    "compare": "la.compare(Page('<p>x'), Page('<p>y'))",
}


def said(call: str, missing: str) -> str:
    code = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        "import lookalike as la\n"
        "from lookalike.markup.extraction import page_text\n"
        "from lookalike.markup.page import Page\n"
        f"try:\n    {call}\nexcept la.MissingExtra as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_the_parser_is_missing(call: str) -> None:
    assert "lookalike[pages]" in said(call, "turbohtml")


def test_the_extractor_is_missing() -> None:
    assert "lookalike[pages]" in said(CALLS["page_text"], "resiliparse")
    assert said(CALLS["page_print"], "resiliparse") == ""
