"""What the command line says: suggestions, counts, values as people write them, and whether an interrupted run can go on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import lookalike as la
from lookalike.cli.options import bar, print_table
from lookalike.cli.progress import StageCounter


@pytest.mark.parametrize(
    ("arguments", "suggestion"),
    [
        (["dedup", "a"], "Did you mean 'dedupe'?"),
        (["serch", "a"], "Did you mean 'search'?"),
        (["dedupe", "a", "--treshold", "0.5"], "Did you mean '--threshold'?"),
        (["compare", "a", "b", "--mesure", "cosine"], "Did you mean '--measure'?"),
    ],
)
def test_a_typing_error_is_answered_with_the_right_name(run: Any, arguments: list[str], suggestion: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stderr.strip().endswith(suggestion)


def test_a_name_like_no_other_gets_no_suggestion(run: Any) -> None:
    done = run("xyzzy")
    assert (done.returncode, done.stderr.strip().splitlines()[-1]) == (2, "Error: No such command 'xyzzy'.")


def test_one_thing_is_named_in_the_singular(run: Any, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"text": "one and the same text of some words"}\n' * 2)
    assert "1 cluster ·" in run("dedupe", tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl").stdout
    (tmp_path / "one.jsonl").write_text('{"text": "alone"}\n')
    assert run("dedupe", tmp_path / "one.jsonl", "--out", tmp_path / "o.jsonl").stdout.startswith("1 document: 1 kept")
    (tmp_path / "pairs.jsonl").write_text('{"draft": "a b c", "final": "a b c"}\n')
    assert run("feedback", tmp_path / "pairs.jsonl").stdout.startswith("1 pair: ")


def test_values_are_printed_as_json_and_not_as_python(run: Any, tmp_path: Path) -> None:
    with la.open(tmp_path / "store") as index:
        index.add([("a", "text", {"tags": ["x", "y"], "read": True, "by": None, "name": "文"})])
    shown = run("get", tmp_path / "store", "a").stdout.splitlines()
    assert set(shown[1:-1]) == {'tags: ["x", "y"]', "read: true", "by: null", "name: 文"}
    facts = run("stats", tmp_path / "store").stdout
    assert "True" not in facts
    assert "None" not in facts


def test_headers_and_numbers_stay_whole_on_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    print_table(("id", "documents", "similarity from", "others"), [("some-id" * 8, "1,000", "0.8649", "other-id" * 20)], right=(1, 2))
    shown = capsys.readouterr().out
    assert "similarity from" in shown.splitlines()[0]
    assert "0.8649" in shown


@pytest.mark.parametrize(("options", "said"), [(["--resume"], "with --resume"), ([], "starts anew")])
def test_an_interrupted_run_says_whether_it_can_go_on(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], said: str
) -> None:
    (tmp_path / "in.jsonl").write_text("".join(f'{{"text": "some words and the number {n}"}}\n' for n in range(3_000)))

    def interrupt(_self: object, _progress: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(StageCounter, "stage", interrupt)
    done = run("dedupe", tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl", *options)
    assert done.returncode == 130
    assert "lookalike: interrupted: " in done.stderr
    assert said in done.stderr
    assert not (tmp_path / "out.jsonl").exists()
    monkeypatch.undo()
    assert run("dedupe", tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl", *options).returncode == 0


def test_only_what_is_whole_fills_a_bar() -> None:
    assert [len(bar(share, 20)) for share in (-0.5, 0.0, 0.001, 0.5, 0.98, 0.9999, 1.0, 1.5)] == [0, 0, 1, 10, 19, 19, 20, 20]


def test_a_withheld_verdict_does_not_turn_the_score_around(run: Any, tmp_path: Path) -> None:
    for name, text in (("a.txt", "价格100元"), ("b.txt", "价格1000元")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = run("compare", tmp_path / "a.txt", tmp_path / "b.txt")
    assert done.returncode == 1
    assert done.stdout.startswith("alike in wording only: calibrated score 0.9055 ≥ 0.8\n")


def test_a_file_that_is_refused_is_not_said_to_be_compared(run: Any, tmp_path: Path) -> None:
    with la.open(tmp_path / "store") as index:
        index.add("one", "a text of some words")
    (tmp_path / "junk").write_bytes(bytes(range(256)) * 20)
    done = run("search", tmp_path / "store", tmp_path / "junk")
    assert done.returncode == 2
    (said,) = done.stderr.splitlines()
    assert said.endswith("give a text file, or search for its bytes --by fuzzy")
