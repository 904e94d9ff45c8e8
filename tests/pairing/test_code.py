"""Copies of code are found whatever somebody did to hide them."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import lookalike as la

pytest.importorskip("pygments")

ROOT = Path(__file__).parent.parent.parent
NAMES = ["edits", "score", "ignoring", "side_by_side", "terminal", "compare"]
SOURCES = {name: (ROOT / "src" / "lookalike" / "comparison" / f"{name}.py").read_text(encoding="utf-8") for name in NAMES}


@pytest.fixture(scope="module")
def disguises() -> dict[str, Callable[[str, str, int], str]]:
    spec = importlib.util.spec_from_file_location("disguises", ROOT / "benchmarks" / "disguises.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["disguises"] = module
    spec.loader.exec_module(module)
    found: dict[str, Callable[[str, str, int], str]] = module.PYTHON
    return found


def write(folder: Path, texts: dict[str, str]) -> Path:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def best(report: la.PairsReport) -> tuple[str, str, float]:
    pair = report.pairs[0]
    return Path(pair.left).name, Path(pair.right).name, pair.score


@pytest.mark.parametrize(
    "disguise",
    ["renamed", "reformatted", "… other literals", "… dead code", "… reordered", "… dead code, reordered", "… half of it copied"],
)
def test_disguised_copies_rank_first(tmp_path: Path, disguises: dict[str, Callable[[str, str, int], str]], disguise: str) -> None:
    copy = disguises[disguise](SOURCES["edits"], SOURCES["score"], 1)
    folder = write(tmp_path, {f"{name}.py": text for name, text in SOURCES.items() if name != "score"} | {"zcopy.py": copy})
    left, right, score = best(la.pairs(folder, kind="code"))
    assert (left, right) == ("edits.py", "zcopy.py")
    assert score > (0.2 if "half" in disguise else 0.3)


def halves(source: str) -> tuple[str, str]:
    """A file as two: its definitions in turns."""
    body = ast.parse(source).body
    return ast.unparse(ast.Module(body[::2], [])), ast.unparse(ast.Module(body[1::2], []))


def test_split_and_merged_files(tmp_path: Path) -> None:
    first, second = halves(SOURCES["edits"])
    submissions = {"anna/edits.py": SOURCES["edits"], "ben/one.py": first, "ben/two.py": second, "cleo/terminal.py": SOURCES["terminal"]}
    report = la.pairs(write(tmp_path / "split", submissions), kind="code")
    left, right, score = best(report)
    assert (left, right) == ("anna", "ben")
    assert score > 0.8
    assert {passage.right_part for passage in report.pairs[0].passages} == {0, 1}
    merged = {"a.py": SOURCES["edits"], "b.py": SOURCES["terminal"], "d.py": SOURCES["compare"]}
    merged["c.py"] = f"{SOURCES['score']}\n{SOURCES['edits']}"
    report = la.pairs(write(tmp_path / "merged", merged), kind="code")
    assert best(report)[:2] == ("a.py", "c.py")
    assert report.pairs[0].containment[0] > 0.99  # a doc string at the top of a file is none in its middle


def test_languages_are_apart(tmp_path: Path) -> None:
    lines = "\n".join(f"value{n} = compute(value{n - 1}, {n}) + other[{n}];" for n in range(30))
    report = la.pairs(write(tmp_path, {"a.js": lines, "b.ts": lines, "c.js": lines.replace("value", "v")}), kind="code")
    assert [(Path(pair.left).name, Path(pair.right).name) for pair in report] == [("a.js", "c.js")]
    named = la.pairs(tmp_path, kind="code", language="javascript")
    assert len(named) == 3


def test_a_file_that_is_no_code_is_named_and_left_out(tmp_path: Path) -> None:
    problems: list[la.Problem] = []
    folder = write(tmp_path, {"a.py": SOURCES["edits"], "b.py": SOURCES["edits"], "README": "Read me first."})
    report = la.pairs(folder, kind="code", on_problem=problems.append)
    assert len(report.ids) == 2
    assert ["README" in problem.place and "language" in problem.message for problem in problems] == [True]


def test_templates_of_code(tmp_path: Path) -> None:
    given = SOURCES["edits"]
    texts = {"a.py": f"{given}\n{SOURCES['score']}", "b.py": f"{given}\n{SOURCES['terminal']}"}
    folder = write(tmp_path / "in", texts)
    (tmp_path / "given.py").write_text(given)
    assert la.pairs(folder, kind="code").pairs[0].score > 0.3
    rest = la.pairs(folder, kind="code", ignore=[tmp_path / "given.py"])
    assert not rest.pairs or rest.pairs[0].score < 0.05
    with pytest.raises(la.InputError, match="language"):
        la.pairs(folder, kind="code", ignore=["x = 1"])
