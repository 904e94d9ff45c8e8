"""Standard input, output and error as shells leave them: closed, a pipe that nobody reads, a full disk; and pipes by name."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import lookalike as la
from lookalike import io
from lookalike.text.idf import Idf

ROOT = Path(__file__).parents[2]
SCRIPT = "from lookalike.cli import main; main()"
LEFT, CORPUS, DRAFTS = (str(ROOT / "examples" / name) for name in ("left.txt", "corpus.jsonl", "drafts.jsonl"))


def shell(command: str, *, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A command line in which ``lookalike`` is ours; the exit code is that of the first program of a pipe."""
    run = f'lookalike() {{ "{sys.executable}" -c "{SCRIPT}" "$@"; }}; {command}; exit ${{PIPESTATUS[0]}}'
    return subprocess.run(["bash", "-c", run], capture_output=True, text=True, check=False, cwd=cwd)


@pytest.mark.parametrize(
    "verb",
    [
        f"compare {LEFT} {LEFT}",
        f"compare {LEFT} {CORPUS} --json",
        f"fingerprint {LEFT} --json",
        f"dedupe {CORPUS} --out -",
        f"dedupe {CORPUS} --out o.jsonl --json",
        f"plan {CORPUS} --json",
        f"feedback {DRAFTS} --json",
        f"add store {LEFT} --json",
        "info --json",
        "--help",
        "compare --help",
    ],
)
def test_nobody_reads(verb: str, tmp_path: Path) -> None:
    """Not 1, which says "not alike", and not 0, which says "alike"."""
    done = shell(f"lookalike {verb} 2>err | (exec <&-; sleep 0.01)", cwd=tmp_path)
    assert done.returncode == 141
    said = (tmp_path / "err").read_text()
    assert "Traceback" not in said
    assert "internal error" not in said


@pytest.mark.parametrize("verb", [f"compare {LEFT} {LEFT}", f"add store {LEFT}", f"feedback {DRAFTS}", "info"])
def test_standard_output_is_closed(verb: str, tmp_path: Path) -> None:
    done = shell(f"lookalike {verb} >&-", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "lookalike: standard output is closed: leave out >&-, or send what you do not need to /dev/null\n",
    )
    assert not list(tmp_path.iterdir())


def test_standard_error_is_closed(tmp_path: Path) -> None:
    done = shell(f"lookalike add store {LEFT} 2>&-", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "1 document: 1 added, 0 updated\n")
    with la.open(tmp_path / "store", read_only=True) as index:
        assert not index.check().problems


def test_standard_input_is_closed(tmp_path: Path) -> None:
    for verb in (f"compare - {LEFT}", "add store -", "dedupe - --out o.jsonl", "feedback -"):
        done = shell(f"lookalike {verb} <&-", cwd=tmp_path)
        assert done.returncode == 2
        assert "is standard input, and that is closed" in done.stderr


def test_the_end_of_a_file_is_no_interruption(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from lookalike import cli

    def ends(*_: object, **__: object) -> object:
        raise EOFError("ended")

    monkeypatch.setattr(la, "info", ends)
    with pytest.raises(SystemExit) as left:
        cli.main(["info"])
    assert left.value.code == 70
    assert "interrupted" not in capsys.readouterr().err


class TestOneDoor:
    @pytest.mark.parametrize("kind", ["ssdeep", "tlsh", "sha256", "simhash", "all"])
    def test_a_device_is_refused(self, kind: str) -> None:
        for path in (Path("/dev/zero"), Path("/dev")):
            with pytest.raises(la.InputError, match=r"is a device or a socket|is a directory"):
                la.fingerprint(path, kind)

    @pytest.mark.parametrize("make", [la.ssdeep, la.tlsh, la.digest])
    def test_a_pipe_that_nobody_writes_to(self, make: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(io, "PIPE_SECONDS", 0.05)
        os.mkfifo(tmp_path / "pipe")
        before = threading.active_count()
        with pytest.raises(la.InputError, match=r"is a pipe, and nobody opened it for writing within 0.05 seconds"):
            make(tmp_path / "pipe")  # type: ignore[operator]
        assert threading.active_count() == before

    def test_a_pipe_with_a_writer(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(b"some text",))
        writer.start()
        assert la.digest(tmp_path / "pipe") == la.digest(b"some text")
        writer.join()

    def test_more_than_the_limit(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "large").write_bytes(bytes(5000))
        monkeypatch.setattr(io, "MAX_FILE_BYTES", 4999)
        for make in (la.ssdeep, la.tlsh, la.digest):
            with pytest.raises(la.InputError, match=r"has more than 4,999 bytes: split it, or raise lookalike.io.MAX_FILE_BYTES"):
                make(tmp_path / "large")
        monkeypatch.setattr(io, "MAX_FILE_BYTES", 5000)
        assert la.digest(tmp_path / "large") == la.digest(bytes(5000))

    def test_word_lists_and_vectors(self) -> None:
        for read in (Idf.load, la.word_vectors):
            with pytest.raises(la.InputError, match=r"is a device or a socket|no such file"):
                read(Path("/dev/zero"))  # type: ignore[operator]


class TestOutputs:
    @pytest.mark.parametrize("name", ["notes.txt", "hard.txt", "soft.txt"])
    def test_idf_does_not_destroy_its_input(self, name: str, tmp_path: Path) -> None:
        (tmp_path / "notes.txt").write_text("some notes")
        os.link(tmp_path / "notes.txt", tmp_path / "hard.txt")
        os.symlink("notes.txt", tmp_path / "soft.txt")
        done = shell(f"lookalike idf notes.txt --tokenizer words --out {name}", cwd=tmp_path)
        assert done.returncode == 2
        assert f"out='{name}' is the input 'notes.txt' too: give every output a file of its own" in done.stderr
        assert (tmp_path / "notes.txt").read_text() == "some notes"

    @pytest.mark.parametrize("option", ["rows_out", "html", "problems_out"])
    def test_feedback_does_not_destroy_its_input(self, option: str, tmp_path: Path) -> None:
        pairs = tmp_path / "pairs.jsonl"
        pairs.write_bytes(Path(DRAFTS).read_bytes())
        os.link(pairs, tmp_path / "hard.jsonl")
        done = shell(f"lookalike feedback pairs.jsonl --{option.replace('_', '-')} hard.jsonl", cwd=tmp_path)
        assert done.returncode == 2
        assert f"{option}='hard.jsonl' is the input" in done.stderr
        assert pairs.read_bytes() == Path(DRAFTS).read_bytes()
        with pytest.raises(la.InputError, match=r"rows_out=.* is the input"):
            la.feedback(pairs, rows_out=tmp_path / "hard.jsonl")

    def test_a_report_that_fails_leaves_the_old_one(self, tmp_path: Path) -> None:
        """Rows of feedback appear whole: a wrong column is found at the end."""
        (tmp_path / "rows.jsonl").write_text("old")
        with pytest.raises(la.InputError, match="no row has a column"):
            la.feedback(DRAFTS, by="modle", rows_out=tmp_path / "rows.jsonl")
        assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]
        assert (tmp_path / "rows.jsonl").read_text() == "old"
