"""Templates and boilerplate that do not count, shared passages, and containment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.cli import group
from lookalike.comparison.ignoring import Templates, blanked, removed, share
from lookalike.fingerprints.winnowing import Winnowing
from lookalike.recipe import DEFAULT

TEMPLATE = "Copyright 2024 Example Corp. All rights reserved (worldwide)."
BODY = "The body is about near-duplicates, and how to find them among many pages."
WORDS = [f"w{i}" for i in range(12)]
pieces = st.lists(st.sampled_from(WORDS), max_size=30)


def shared(text: str, template: str) -> set[int]:
    """The slow way: places of words in runs of five that the template has too. Words are separated by one space."""
    words, others = text.split(), template.split()
    runs = {tuple(others[i : i + 5]) for i in range(len(others) - 4)}
    return {place for i in range(len(words) - 4) if tuple(words[i : i + 5]) in runs for place in range(i, i + 5)}


@given(pieces, pieces, pieces)
@settings(max_examples=200, deadline=None)
def test_exactly_the_shared_runs_of_five_tokens_are_ignored(before: list[str], template: list[str], after: list[str]) -> None:
    text = " ".join([*before, *template, *after])
    spans = Templates([" ".join(template)], DEFAULT).spans_in(text)
    rest = [word for place, word in enumerate(text.split()) if place not in shared(text, " ".join(template))]
    assert blanked(text, spans).split() == rest
    assert removed(text, spans).split() == rest
    assert len(blanked(text, spans)) == len(text)
    assert share(text, spans) == pytest.approx(1 - len("".join(rest)) / max(1, len("".join(text.split()))) if text else 0)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (f"{TEMPLATE}\n\n{BODY}", BODY),
        (f"{BODY}\n{TEMPLATE}", BODY),
        (BODY, f"{TEMPLATE} {BODY} {TEMPLATE}"),
        (f"{TEMPLATE}\n{BODY}", f"{BODY}\n\n\n{TEMPLATE}"),
        (f"{TEMPLATE.upper()}\n{BODY}", BODY),
    ],
)
def test_a_template_on_one_side_does_not_count(left: str, right: str) -> None:
    with_template = la.compare(left, right)
    found = la.compare(left, right, ignore=[TEMPLATE])
    assert with_template.edits is not None
    assert found.edits is not None
    assert with_template.edits.to_dict() != found.edits.to_dict() == {"kept": 1.0, "deleted": 0, "inserted": 0, "moved": 0, "reworded": 0}
    assert set(found.measures.values()) == {1.0}
    assert found.score == la.compare(BODY, BODY).score
    assert found.containment == {"left": 1.0, "right": 1.0}


def test_spans_refer_to_the_original() -> None:
    left, right = f"{TEMPLATE}\n\n{BODY} It ends here.", f"{BODY}\n{TEMPLATE}\nIt stops now."
    found = la.compare(left, right, ignore=[TEMPLATE])
    (passage,) = found.passages
    assert left[slice(*passage.left)] == right[slice(*passage.right)] == BODY.rstrip(".")
    assert found.edits is not None
    texts = [left[slice(*segment.span)] for segment in found.edits.left if segment.kind != "kept"]
    assert texts == ["ends here"]


@given(pieces, pieces, pieces)
@settings(max_examples=150, deadline=None)
def test_passages_slice_to_equal_text_between_what_is_ignored(left: list[str], right: list[str], template: list[str]) -> None:
    mine, theirs = " ".join([*left, *template, *right]), " ".join([*right, *left, *template])
    found = la.compare(mine, theirs, ignore=[" ".join(template)], measures=[])
    assert found.ignored is not None
    for passage in found.passages:
        assert mine[slice(*passage.left)] == theirs[slice(*passage.right)]
        for span, spans in ((passage.left, found.ignored.left_spans), (passage.right, found.ignored.right_spans)):
            assert not any(start < span[1] and span[0] < end for start, end in spans)


def test_the_share_is_reported() -> None:
    found = la.compare(f"{TEMPLATE}\n{BODY}", BODY, ignore=[TEMPLATE])
    expected = len("".join(TEMPLATE.split())) / len("".join((TEMPLATE + BODY).split()))
    assert found.to_dict()["ignored"] == {"left": pytest.approx(expected), "right": 0.0}
    assert f"ignored: {expected:.1%} of the left text, 0.0% of the right text" in found.notes
    assert found.signature["ignored"] != la.compare(BODY, BODY, ignore=["another template of five words"]).signature["ignored"]
    assert "ignored" not in la.compare(BODY, BODY).to_dict()


def test_several_templates_may_overlap() -> None:
    text = f"{TEMPLATE} {BODY}"
    found = la.compare(text, BODY, ignore=(piece for piece in (TEMPLATE, TEMPLATE[:40], f"Inc. {TEMPLATE}")))
    assert found.ignored is not None
    assert [text[slice(*span)].strip() for span in found.ignored.left_spans] == [TEMPLATE]


def test_nothing_is_silent() -> None:
    assert "ignored text 1 has 2 tokens: too few to look for, at least 5 are needed" in la.compare("a", "b", ignore=["too short"]).notes
    assert "the score says nothing" in la.compare(TEMPLATE, TEMPLATE, ignore=[TEMPLATE]).notes[-1]


@pytest.mark.parametrize("ignore", ["a text", 7, [b"bytes"], [None]])
def test_bad_ignore_is_refused(ignore: Any) -> None:
    with pytest.raises(la.InputError, match="ignore"):
        la.compare("a", "b", ignore=ignore)


def test_only_texts_can_ignore(tmp_path: Path) -> None:
    with pytest.raises(la.InputError, match="ignore"):
        la.compare({"a": 1}, {"a": 2}, ignore=["x"])


def test_repetitive_templates_take_linear_time() -> None:
    found = la.compare("buffalo " * 50_000, "buffalo " * 40_000 + "end", ignore=["buffalo " * 5_000], measures=[])
    assert found.ignored is not None
    assert found.ignored.left == 1
    assert found.ignored.right == pytest.approx(1, abs=1e-4)


@given(pieces, pieces)
@settings(max_examples=150, deadline=None)
def test_containment_is_the_share_inside_passages(left: list[str], right: list[str]) -> None:
    found = la.compare(" ".join(left), " ".join(right), measures=[])
    assert found.containment is not None
    for words, side in ((left, "left"), (right, "right")):
        spans = [getattr(passage, side) for passage in found.passages]
        covered = 0
        at = 0
        for word in words:
            covered += len(word) * any(start <= at and at + len(word) <= end for start, end in spans)
            at += len(word) + 1
        assert found.containment[side] == pytest.approx(covered / sum(map(len, words)) if words else 1.0)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("", "", (1, 1)),
        ("", "some text", (1, 0)),
        ("two words", "two words", (1, 1)),
        ("two words", "here are two words among others", (1, 8 / 26)),
        ("one", "two", (0, 0)),
        ("相似的文本得到相近的指纹。", "相似的文本得到相近的指纹！", (1, 1)),
    ],
)
def test_containment_of_short_texts(left: str, right: str, expected: tuple[float, float]) -> None:
    assert la.compare(left, right).to_dict()["containment"] == {"left": pytest.approx(expected[0]), "right": pytest.approx(expected[1])}


def run(tmp_path: Path, *options: str, **files: str) -> Any:
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    arguments = [str(tmp_path / option) if option in files or option.endswith(".html") else option for option in options]
    return CliRunner().invoke(group, ["compare", *arguments])


def test_the_command_ignores_files(tmp_path: Path) -> None:
    files = {
        "a": f"{TEMPLATE}\n{BODY}\nWith kind regards from all of us",
        "b": BODY,
        "t": TEMPLATE,
        "u": "With kind regards from all of us",
    }
    result = run(tmp_path, "a", "b", "--ignore", "t", "--ignore", "u", "--json", **files)
    found = json.loads(result.stdout)
    assert found["edits"]["kept"] == 1
    assert found["ignored"]["left"] > 0.5


def test_the_command_writes_a_page(tmp_path: Path) -> None:
    result = run(tmp_path, "a", "b", "--html", "out.html", a=f"{BODY} \x00</script>", b=BODY)
    assert result.exit_code in (0, 1)
    assert (tmp_path / "out.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_command_does_not_overwrite_its_input(tmp_path: Path) -> None:
    result = run(tmp_path, "a.html", "b", "--html", "a.html", **{"a.html": BODY, "b": BODY})
    assert isinstance(result.exception, la.InputError)
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == BODY


@pytest.mark.parametrize("options", [("--html", "-"), ("--as", "file", "--ignore", "a")])
def test_wrong_options_are_refused(tmp_path: Path, options: tuple[str, ...]) -> None:
    assert isinstance(run(tmp_path, "a", "b", *options, a=BODY, b=BODY).exception, la.InputError)


WORDS = st.lists(st.sampled_from(["tea", "cup", "milk", "sugar", "茶", "杯", "奶。", "spoon,", "\n", "and"]), max_size=30).map(" ".join)


@given(WORDS, st.lists(WORDS, max_size=6))
def test_many_templates_ignore_what_each_of_them_ignores(text: str, templates: list[str]) -> None:
    alone = [span for template in templates for span in Templates([template], DEFAULT).spans_in(text)]
    covered = {place for start, end in alone for place in range(start, end)}
    assert {place for start, end in Templates(templates, DEFAULT).spans_in(text) for place in range(start, end)} == covered


def test_work_grows_with_what_templates_share_with_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[int] = []
    passages = Winnowing.passages
    monkeypatch.setattr(Winnowing, "passages", lambda self, other: looked_at.append(len(self)) or passages(self, other))
    templates = [" ".join(f"w{number}x{place}" for place in range(8)) for number in range(200)]
    text = " between ".join(templates)
    assert len(Templates(templates, DEFAULT).spans_in(text)) == 200
    assert sum(looked_at) < 2 * len(text.split())
