"""Reading ahead changes when batches are read, and nothing else: order, problems, errors, and that nobody reads on for nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import lookalike as la
from dedupe_corpora import near_copies, rows_of, write_jsonl
from lookalike.corpus.batches import Batch, Report
from lookalike.corpus.formats import lines
from lookalike.corpus.row import Problem
from lookalike.deduping.ahead import read_ahead
from lookalike.text.columns import Packed


def batch(number: int) -> Batch:
    return Batch(np.array([number]), Packed(b"", np.zeros(1, np.int64)))


def problem(number: int) -> Problem:
    return Problem("broken", f"file:{number}", "for the test")


def readers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "lookalike-reader"]


def follow(batches: Callable[[Report], Iterator[Batch]], seen: list[object]) -> list[object]:
    """Appends the numbers of batches, and problems, as they come."""
    for each in read_ahead(batches, seen.append):
        (number,) = each.rows.tolist()
        seen.append(number)
    return seen


def test_problems_come_before_the_batch_they_were_found_on_the_way_to() -> None:
    def batches(report: Report) -> Iterator[Batch]:
        for number in range(50):
            if number % 3 == 0:
                report(problem(number))
            yield batch(number)
        report(problem(50))

    seen = follow(batches, [])
    expected = [each for number in range(50) for each in ([problem(number)] if number % 3 == 0 else []) + [number]]
    assert seen == [*expected, problem(50)]
    assert not readers()


def test_an_error_comes_where_its_batch_would_have_come() -> None:
    def batches(report: Report) -> Iterator[Batch]:
        yield batch(1)
        report(problem(2))
        raise OSError("the disk is gone")

    seen: list[object] = []
    with pytest.raises(OSError, match="the disk is gone"):
        follow(batches, seen)
    assert seen == [1, problem(2)]
    assert not readers()


def test_who_stops_early_leaves_no_reader_behind() -> None:
    made = []

    def batches(report: Report) -> Iterator[Batch]:
        for number in range(1000):
            made.append(number)
            yield batch(number)

    ahead = read_ahead(batches, lambda found: None)
    next(ahead)
    ahead.close()  # type: ignore[attr-defined]
    assert len(made) < 10
    assert not readers()


def test_a_problem_that_ends_the_run_leaves_no_reader_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "BLOCK", 4096)
    source = write_jsonl(tmp_path / "in.jsonl", rows_of(near_copies(1, 300)))
    lines_of_it = source.read_bytes().splitlines(keepends=True)
    source.write_bytes(b"".join([*lines_of_it[:200], b'{"text": \n', *lines_of_it[200:]]))
    with pytest.raises(la.InputError, match=r"in\.jsonl:201: invalid JSON"):
        la.dedupe(source, out=tmp_path / "out.jsonl", workers=2)
    assert not readers()
    assert not (tmp_path / "out.jsonl").exists()
    one, two = (la.dedupe(source, out=tmp_path / f"{workers}.jsonl", workers=workers, on_error="skip") for workers in (1, 2))
    assert (
        (one.skipped, one.problem_counts, one.problems)
        == (two.skipped, two.problem_counts, two.problems)
        == (1, {"invalid JSON": 1}, one.problems)
    )
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()
