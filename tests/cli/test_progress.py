"""What a verb says while it works."""

from __future__ import annotations

import re
import sys

import pytest

from lookalike import Problem
from lookalike.cli import options
from lookalike.cli import progress as module
from lookalike.cli.progress import Counter, ProblemNotes
from terminal import shown_on_a_terminal


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PROGRESS_AFTER", 0.0)


@pytest.mark.usefixtures("at_once")
class TestProgress:
    def test_on_a_terminal(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        with Counter(False, "documents") as progress:
            progress.at(12_345)
            drawn = capsys.readouterr().err
            assert re.fullmatch(r"\r\x1b\[K12,345 documents, [\d,]+ per second", drawn)
            progress.step()  # too soon after the last
            assert capsys.readouterr().err == ""
        assert capsys.readouterr().err == "\r\x1b[K"

    def test_off_a_terminal(self, capsys: pytest.CaptureFixture[str]) -> None:
        with Counter(False, "documents") as progress:
            progress.step()
        assert capsys.readouterr().err == ""

    def test_quiet(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        with Counter(True, "documents") as progress:
            progress.step()
        assert capsys.readouterr().err == ""


def test_what_takes_a_moment_shows_nothing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(module, "PROGRESS_AFTER", 1000.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with Counter(False, "documents") as progress:
        progress.step()
    assert capsys.readouterr().err == ""


def test_the_first_problems_are_named_and_all_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    notes = ProblemNotes(Counter(False, "documents"), quiet=False)
    for number in range(30):
        notes(Problem("no text", f"a.jsonl:{number}", "it is \x1b[31mnull", skipped=number % 2 == 0))
    notes.finish(" (all: --out)")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 21
    assert lines[0] == "lookalike: a.jsonl:0: no text: it is \\x1b[31mnull"
    assert lines[-1] == "lookalike: … and 10 more problems (all: --out)"
    assert (notes.seen, notes.skipped) == (30, 15)


class TestWorking:
    CODE = (
        "import time\nfrom lookalike.cli import options\noptions.SIGN_AFTER = {after}\n"
        "with options.working('checking \\x1b[31m[bold]news', {quiet}):\n    time.sleep({takes})\n"
        "print('done')"
    )

    def test_what_takes_a_while(self) -> None:
        shown = shown_on_a_terminal(self.CODE.format(after=0, quiet=False, takes=1))
        assert "checking \\x1b[31m[bold]news" in shown
        assert shown.endswith("\x1b[2Kdone\r\n")  # the line is gone

    @pytest.mark.parametrize(("after", "quiet"), [(1000, False), (0, True)])
    def test_what_is_quick_or_quiet_shows_nothing(self, after: float, quiet: bool) -> None:
        assert shown_on_a_terminal(self.CODE.format(after=after, quiet=quiet, takes=0)) == "done\r\n"

    def test_errors_pass(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        with pytest.raises(KeyError), options.working("checking", quiet=False):
            raise KeyError
