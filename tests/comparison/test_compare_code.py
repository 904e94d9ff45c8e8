"""Source code is compared by what stays when names, literals, comments and layout change."""

from __future__ import annotations

import math
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.comparison.code import PASSAGE_TOKENS, ReadCode, code_score, common_runs
from lookalike.errors import InputError
from lookalike.text.code import NGRAM

EXAMPLES = Path(__file__).parents[2] / "examples" / "code"
ORIGINAL, COPY = EXAMPLES / "prices.py", EXAMPLES / "copied.py"
UNRELATED = """
class Stack(list):
    def top(self):
        if not self:
            raise IndexError("empty")
        return self[-1]

    def __repr__(self):
        return "Stack(" + ", ".join(map(repr, self)) + ")"
"""


def reference_score(left: list[str], right: list[str]) -> float:
    """The definition, token by token."""
    if left == right:
        return 1.0
    bags = [Counter(tuple(side[at : at + NGRAM]) for at in range(max(1, len(side) - NGRAM + 1))) for side in (left, right)]
    common = sum(math.sqrt(min(bags[0][run], bags[1][run])) for run in bags[0])
    share = common / math.sqrt(sum(map(math.sqrt, bags[0].values())) * sum(map(math.sqrt, bags[1].values())))
    return 3 * share**2 - 2 * share**3


@given(left=st.lists(st.sampled_from("abc"), min_size=1, max_size=40), right=st.lists(st.sampled_from("abc"), min_size=1, max_size=40))
def test_the_score_is_what_its_definition_says(left: list[str], right: list[str]) -> None:
    # Operators stay as they are: a language of three tokens.
    signs = str.maketrans("abc", "+-*")
    sides = [la.code(" ".join(side).translate(signs), "python") for side in (left, right)]
    found, _ = code_score(*map(ReadCode, sides))
    assert found == pytest.approx(reference_score(*([token.text for token in side.tokens] for side in sides)))
    assert found == code_score(*map(ReadCode, reversed(sides)))[0]
    assert 0 <= found <= 1
    assert (found == 1) == (left == right)


def test_common_runs_is_a_share() -> None:
    assert common_runs({1: 4, 2: 1}, {1: 4, 2: 1}) == 1
    assert common_runs({1: 1}, {2: 1}) == 0


def test_a_disguised_copy_is_alike_and_an_unrelated_file_is_not() -> None:
    original = la.code(ORIGINAL)
    found = la.compare(original, la.code(COPY))
    assert found.alike
    assert found.kind == "code"
    assert found.language == "python"
    assert not la.compare(la.read_text(ORIGINAL).text, la.read_text(COPY).text).alike
    assert la.compare(original, la.code(UNRELATED, "python")).score < 0.2
    assert la.compare(original, original).score == 1


def test_passages_edits_and_lines_are_those_of_the_source() -> None:
    found = la.compare(ORIGINAL, COPY, kind="code")
    source, copy = la.read_text(ORIGINAL).text, la.read_text(COPY).text
    assert found.passage_lines() == [((3, 10), (6, 9)), ((14, 19), (2, 6))]
    for passage, lines in zip(found.passages, found.passage_lines(), strict=True):
        assert source[: passage.left[0]].count("\n") + 1 == lines.left[0]
        assert copy[: passage.right[1]].count("\n") + 1 == lines.right[1]
        tokens = [token for token in la.code(ORIGINAL).tokens if passage.left[0] <= token.start < passage.left[1]]
        assert len(tokens) >= PASSAGE_TOKENS
    data = found.to_dict()
    assert data["language"] == "python"
    assert data["passages"][0]["lines"]["left"] == list(found.passage_lines()[0].left)
    assert found.edits is not None
    assert found.edits.kept + found.edits.moved > 0.99
    inserted = [copy[slice(*segment.span)] for segment in found.edits.right if segment.kind == "inserted"]
    assert inserted == ['print("done")']
    assert "A line 6: " in found.to_terminal()
    assert "(to B line 7)" in found.to_terminal()


def test_the_report_has_line_numbers_and_a_fixed_width() -> None:
    page = la.compare(ORIGINAL, COPY, kind="code").to_html()
    assert 'class="view source"' in page
    assert re.findall(r'class="line" data-n="(\d+)"', page.partition('class="view source"')[2]).count("3") == 2  # on both sides
    lines = la.read_text(ORIGINAL).text.count("\n") + la.read_text(COPY).text.count("\n")
    assert page.count('class="line"') == lines
    assert "left lines 14–19" in page
    assert 'class="line"' not in la.compare("a b c", "a b d").to_html()


def test_templates_do_not_count() -> None:
    given_code = "def read(path):\n    with open(path) as file:\n        return [int(line) for line in file if line.strip()]\n"
    one = given_code + "def solve(a):\n    return sum(x * x for x in a if x % 2 == 0)\n"
    two = (
        given_code.replace("path", "name")
        + "def solve(a):\n    a.sort()\n    best = a[0]\n    while best < a[-1]:\n        best += 1\n    return best\n"
    )
    plain = la.compare(la.code(one, "python"), la.code(two, "python"))
    without = la.compare(la.code(one, "python"), la.code(two, "python"), ignore=[given_code])
    assert without.score < 0.3 < plain.score
    assert without.ignored is not None
    assert without.ignored.left > 0.4
    assert without.passages == []


def test_what_cannot_be_compared_is_refused() -> None:
    python, java = la.code("x = 1", "python"), la.code("int x = 1;", "java")
    with pytest.raises(InputError, match="within one language"):
        la.compare(python, java)
    with pytest.raises(InputError, match="code is compared with code"):
        la.compare(python, "x = 1")
    with pytest.raises(InputError, match="not for code"):
        la.compare(python, python, measures=["meaning"])
    with pytest.raises(InputError, match="does not say its language"):
        la.compare(Path("examples/left.txt").absolute(), ORIGINAL, kind="code")


def test_code_without_tokens() -> None:
    empty, comment, code = (la.code(text, "python") for text in ("", "# nothing\n", "x = 1"))
    assert la.compare(empty, comment).score == 1
    assert la.compare(empty, code).score == 0
    assert "no code" in la.compare(empty, code).notes[0]
    assert la.compare(empty, code).passages == []


def test_fingerprints_of_code_are_made_with_its_recipe() -> None:
    one = la.code("def area(w, h):\n    return w * h", "python")
    other = la.code("def f(x, y): return x*y", "python")
    prints = [la.fingerprint(each, kinds="simhash,minhash,winnowing,md5") for each in (one, other)]
    for kind in ("simhash", "minhash"):
        assert prints[0][kind].similarity(prints[1][kind]) == 1
    assert prints[0]["winnowing"].values == prints[1]["winnowing"].values
    assert prints[0]["md5"] != prints[1]["md5"]
    assert prints[0]["simhash"].recipe.endswith(one.recipe.id)
