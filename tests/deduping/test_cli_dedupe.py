"""The command line of dedupe: options, JSON, exit codes, standard input and output, interruption."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import lookalike as la
from dedupe_corpora import near_copies, read_jsonl, rows_of, write_jsonl
from lookalike.deduping import local, working_files

SCRIPT = "from lookalike.cli import main; main()"


def lookalike(*arguments: object, stdin: bytes = b"", code: int = 0) -> subprocess.CompletedProcess[bytes]:
    done = subprocess.run([sys.executable, "-c", SCRIPT, *map(str, arguments)], input=stdin, capture_output=True, check=False)
    assert done.returncode == code, done.stderr.decode()
    return done


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "in.jsonl", rows_of(near_copies(3, 200)))


def test_json(corpus: Path, tmp_path: Path) -> None:
    done = lookalike("dedupe", corpus, "--out", tmp_path / "out.jsonl", "--removed", tmp_path / "removed.jsonl", "--json")
    found = json.loads(done.stdout)
    assert list(found)[:6] == ["documents", "kept", "removed", "clusters", "seconds", "stages"]
    assert found["documents"] == 200 == found["kept"] + found["removed"]
    assert len(read_jsonl(tmp_path / "out.jsonl")) == found["kept"]
    removed = read_jsonl(tmp_path / "removed.jsonl")
    assert len(removed) == found["removed"] > 0
    assert all(list(row) == ["id", "kept_id", "similarity", "file", "row"] and row["similarity"] >= 0.8 for row in removed)
    assert {row["id"] for row in removed}.isdisjoint(row["id"] for row in read_jsonl(tmp_path / "out.jsonl"))


def test_people(corpus: Path, tmp_path: Path) -> None:
    shown = lookalike("dedupe", corpus, "--out", tmp_path / "out.jsonl", "--threshold", "0.7").stdout.decode()
    assert shown.startswith("200 documents: ")
    assert "similarity" in shown


def test_standard_input_and_output(corpus: Path, tmp_path: Path) -> None:
    done = lookalike("dedupe", "-", "--out", "-", stdin=corpus.read_bytes())
    lookalike("dedupe", corpus, "--out", tmp_path / "out.jsonl")
    assert done.stdout == (tmp_path / "out.jsonl").read_bytes()


def test_exit_codes(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert b"would be removed" in lookalike("dedupe", corpus, "--out", out, "--max-removed", "1%", code=8).stderr
    assert b"keep='oldest'" in lookalike("dedupe", corpus, "--out", out, "--keep", "oldest", code=2).stderr
    assert b"does not exist" in lookalike("dedupe", tmp_path / "no.jsonl", "--out", out, code=2).stderr
    lookalike("dedupe", corpus, code=2)
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_skipped_rows_are_named(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(b'{"text": "a"}\nbroken\n{"text": "b"}\n')
    done = lookalike("dedupe", source, "--out", tmp_path / "out.jsonl", "--on-error", "skip", "--json")
    assert f"{source}:2: invalid JSON" in done.stderr.decode()
    assert json.loads(done.stdout)["skipped"] == 1
    assert b"in.jsonl:2" in lookalike("dedupe", source, "--out", tmp_path / "new.jsonl", code=2).stderr


@pytest.mark.parametrize("keep", ["first", "longest"])
@pytest.mark.parametrize("after", [1, 4])
def test_an_interrupted_run_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: str, after: int) -> None:
    """The run ends after some batches; the next one reads only what is left, and writes the same."""
    monkeypatch.setattr("lookalike.corpus.formats.lines.BLOCK", 20_000)
    sources = [write_jsonl(tmp_path / f"in{i}.jsonl", [{"text": text} for text in near_copies(i, 150)]) for i in range(3)]
    (tmp_path / "in1.jsonl").write_bytes(b"broken\n" + sources[1].read_bytes())
    options: dict[str, Any] = {"keep": keep, "on_error": "skip"}
    expected = local.dedupe(sources, out=tmp_path / "whole.jsonl", **options)
    append, appended = working_files.Journal.append, 0

    def interrupted(self: working_files.Journal, *arguments: Any) -> int:
        nonlocal appended
        if appended == after:
            raise KeyboardInterrupt
        appended += 1
        return append(self, *arguments)

    monkeypatch.setattr(working_files.Journal, "append", interrupted)
    with pytest.raises(KeyboardInterrupt):
        local.dedupe(sources, out=tmp_path / "out.jsonl", resume=True, **options)
    assert not (tmp_path / "out.jsonl").exists()
    left = [path for path in tmp_path.iterdir() if path.name.startswith(".lookalike-dedupe-")]
    assert len(left) == 1
    with (left[0] / "batches").open("ab") as file:
        file.write(b"half a batch")
    fresh = 0

    def counted(self: working_files.Journal, *arguments: Any) -> int:
        nonlocal fresh
        fresh += 1
        return append(self, *arguments)

    monkeypatch.setattr(working_files.Journal, "append", counted)
    report = local.dedupe(sources, out=tmp_path / "out.jsonl", resume=True, **options)
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert (report.skipped, report.problem_counts) == (expected.skipped, expected.problem_counts) == (1, {"invalid JSON": 1})
    assert [tuple(each) for each in report.removed] == [tuple(each) for each in expected.removed]
    monkeypatch.setattr(working_files.Journal, "append", append)
    assert fresh > 0
    assert report.stages["resume"] >= 0
    assert not left[0].exists()


def test_damaged_records_are_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lookalike.corpus.formats.lines.BLOCK", 10_000)
    source = write_jsonl(tmp_path / "in.jsonl", rows_of(near_copies(5, 200)))
    expected = local.dedupe(source, out=tmp_path / "whole.jsonl")

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    finish = local.EarlyOutput.finish
    monkeypatch.setattr(local.EarlyOutput, "finish", fails)
    with pytest.raises(la.InputError, match="No space"):
        local.dedupe(source, out=tmp_path / "out.jsonl", resume=True)
    monkeypatch.setattr(local.EarlyOutput, "finish", finish)
    (left,) = (path for path in tmp_path.iterdir() if path.name.startswith(".lookalike-dedupe-"))
    data = bytearray((left / "batches").read_bytes())
    data[len(data) // 2] ^= 1
    (left / "batches").write_bytes(data)
    report = local.dedupe(source, out=tmp_path / "out.jsonl", resume=True)
    assert len(report.removed) == len(expected.removed)
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_other_inputs_do_not_resume(tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "in.jsonl", rows_of(["a b", "a b"]))
    to = local.Destinations(tmp_path / "out.jsonl")
    job = local.Job(local.Criteria(), local.Input(source), to, local.Resources(), local.Against(), local.Conduct())
    before = job._work_folder([local.Source.of(source)])
    os.utime(source, (1, 1))
    assert job._work_folder([local.Source.of(source)]) != before


def test_killed_and_resumed(tmp_path: Path) -> None:
    """A process that is killed while it reads leaves no output; the next one finishes the work."""
    source = tmp_path / "in.jsonl"
    texts = near_copies(9, 3000)
    write_jsonl(source, rows_of(texts * 5))
    rows = [json.loads(line) | {"id": i} for i, line in enumerate(source.read_text().splitlines())]
    write_jsonl(source, rows)
    lookalike("dedupe", source, "--out", tmp_path / "whole.jsonl")
    out = tmp_path / "out.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, "dedupe", str(source), "--out", str(out), "--resume"], stderr=subprocess.DEVNULL
    )
    journal: list[Path] = []
    while process.poll() is None and not journal:
        journal = [path for path in tmp_path.glob(".lookalike-dedupe-*/journal") if path.stat().st_size]
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert journal
    lookalike("dedupe", source, "--out", out, "--resume")
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert not list(tmp_path.glob(".lookalike*"))


FULL_DISK = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
sys.argv = ["lookalike", *sys.argv[2:]]
from lookalike.cli import main
main()
"""


@pytest.mark.parametrize("options", [(), ("--annotate",), ("--keep", "longest"), ("--level", "line"), ("--removed", "removed.jsonl")])
def test_a_full_disk(tmp_path: Path, options: tuple[str, ...]) -> None:
    """No file may be larger than so many bytes: what was there stays, nothing half-written is left, and the message says why."""
    source = write_jsonl(tmp_path / "in.jsonl", rows_of(near_copies(11, 300)))
    (tmp_path / "out.jsonl").write_text("what was there\n")
    allowed = source.stat().st_size // 4
    command = [sys.executable, "-c", FULL_DISK, str(allowed), "dedupe", "in.jsonl", "--out", "out.jsonl", *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "out.jsonl").read_text() == "what was there\n"
    left = {path.name for path in tmp_path.iterdir()} - {"removed.jsonl"}
    assert left == {"in.jsonl", "out.jsonl"}
