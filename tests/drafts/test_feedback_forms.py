"""Feedback: what was edited in form alone is a share of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import lookalike as la
from lookalike.errors import InputError

DRAFT, FINAL = '# Tea\n\nHe said "yes" to **green** tea.', "Tea\n\nHe said “yes” to green tea."


def test_what_nobody_sees_is_no_edit() -> None:
    for draft, final in (("a café by the sea", "a cafe\u0301 by the sea"), ("zero width", "z\u200be\u200br\u200bo width")):
        row = la.feedback([(draft, final)]).rows[0]
        assert (row.edit_share, row.verdict) == (0.0, "used as is")
        assert row.form > 0


def test_form_is_a_share_of_its_own() -> None:
    plain, formed = (la.feedback([(DRAFT, FINAL)], ignore_form=forms) for forms in ([], ["markup", "quotes"]))
    assert plain.rows[0].edit_share == pytest.approx(formed.rows[0].form)
    assert (formed.rows[0].edit_share, formed.rows[0].verdict, plain.rows[0].form) == (0.0, "used as is", 0.0)
    assert plain.rows[0].verdict != "used as is"
    assert formed.to_dict()["aggregates"]["form"]["mean"] == pytest.approx(formed.rows[0].form, abs=1e-6)
    assert formed.to_dict()["signature"]["form"] == "markup+quotes"
    assert "edited in form alone" in formed.to_html()
    assert "markup, quotes" in formed.to_html()


def test_removed_passages_are_those_of_the_text_without_forms() -> None:
    pairs = [
        ("**It is important to note that** tea is green.", "Tea is green."),
        ("It is important to note that cake is sweet.", "Cake is sweet."),
    ]
    report = la.feedback(pairs, ignore_form=["markup"])
    assert [passage.text for passage in report.deleted_passages] == ["It is important to note that"]


def test_processes_ignore_the_same(tmp_path: Path) -> None:
    rows = [(DRAFT, FINAL)] * 3
    one, two = (la.feedback(rows, ignore_form=["markup", "quotes"], workers=workers).to_dict(rows=True) for workers in (1, 2))
    assert one == two


def test_on_the_command_line(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text(json.dumps({"draft": DRAFT, "final": FINAL}) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "lookalike", "feedback", str(pairs), "--quiet"]
    shown = subprocess.run([*command, "--ignore-form", "all"], capture_output=True, text=True, check=True).stdout
    assert "edited in form alone (markup, invisible," in shown
    as_json = subprocess.run([*command, "--ignore-form", "markup,quotes", "--json"], capture_output=True, text=True, check=True).stdout
    assert json.loads(as_json)["aggregates"]["verdicts"]["used as is"] == 1
    wrong = subprocess.run([*command, "--ignore-form", "colour"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "choose from markup" in wrong.stderr


def test_unknown_forms_are_refused() -> None:
    with pytest.raises(InputError, match="choose from"):
        la.feedback([("a", "b")], ignore_form=["colour"])
