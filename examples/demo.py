"""What lookalike does, in a minute, on the files beside this script. `make demo` runs it; it needs no network.

Reports for the browser go to the folder that is named as the argument, `demo` by default.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import lookalike as la

HERE = Path("examples")
COLOURS = sys.stdout.isatty() and "NO_COLOR" not in os.environ
FINGERPRINTS = 100_000


def styled(text: str, code: str) -> str:
    return f"\033[{code}m{text}\033[0m" if COLOURS else text


def heading(text: str) -> None:
    print(f"\n{styled(text, '1;36')}", flush=True)


def run(*arguments: str) -> None:
    """A command as one would type it. Exit code 1 of `compare` says "not alike": that is an answer, not a failure."""
    print(styled(f"$ lookalike {shlex.join(arguments)}", "2"), flush=True)
    done = subprocess.run([sys.executable, "-m", "lookalike", *arguments], check=False)
    if done.returncode not in (0, 1):
        sys.exit(done.returncode)


def an_edited_draft(reports: Path) -> None:
    heading("An AI draft and what its editor made of it")
    texts = str(HERE / "draft.txt"), str(HERE / "final.txt")
    run("compare", *texts, "--measure", "cosine,jaccard", "--html", str(reports / "compare.html"))


def a_table_of_feedback(reports: Path) -> None:
    heading("How usable were the drafts of two models?")
    found = la.feedback(HERE / "drafts.jsonl", by=["model"])
    for model, summary in found.by("model").items():
        print(f"{model:8} {summary.pairs} drafts  usable {styled(f'{summary.usable:.0%}', '1')}  kept {summary.kept.mean:.0%}")
    found.to_html(reports / "feedback.html")


def a_corpus_without_copies(reports: Path) -> None:
    heading("A corpus without near-duplicates, and why each was removed")
    outputs = "--out", str(reports / "clean.jsonl"), "--removed", str(reports / "removed.jsonl"), "--html", str(reports / "dedupe.html")
    run("dedupe", str(HERE / "corpus.jsonl"), *outputs)


def a_search_among_many(folder: Path) -> None:
    heading(f"What looks like this, among {FINGERPRINTS:,} fingerprints?")
    rows = [json.loads(line) for line in (HERE / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]
    others = np.random.default_rng(1).integers(0, 2**64, FINGERPRINTS - len(rows), dtype=np.uint64)
    values = np.concatenate([la.simhashes([row["text"] for row in rows]), others])
    ids = [row["id"] for row in rows] + [f"other-{number}" for number in range(len(others))]
    with la.open(folder / "fingerprints.lookalike") as index:
        index.add_simhashes(ids, values)
        found = index.search(simhash=la.simhash(rows[0]["text"]), k=6)
        alone = seconds(lambda: index.search(simhash=int(values[0]), k=3), 101)
        together = seconds(lambda: index.search_simhashes(values[:1000], k=3), 11) / 1000
    print(f"{rows[0]['id']}: " + ", ".join(f"{match.id} ({match.distance:.0f} bits apart)" for match in found if match.distance))
    print(
        f"{styled(f'{alone * 1e6:,.0f} µs', '1')} for a question from Python, {together * 1e6:.1f} µs for each of a thousand asked at once"
    )


def seconds(work: Callable[[], object], times: int) -> float:
    """The median: other work on the machine should not count."""
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
    return sorted(taken)[times // 2]


def a_search_by_text(folder: Path, reports: Path) -> None:
    heading("What looks like this text, in a store on disk?")
    store = str(folder / "news.lookalike")
    run("add", store, str(HERE / "corpus.jsonl"))
    row = json.loads((HERE / "corpus.jsonl").read_text(encoding="utf-8").splitlines()[15])
    question = reports / "question.txt"
    question.write_text(row["text"][: len(row["text"]) * 9 // 10], encoding="utf-8")  # its end is missing
    run("search", store, str(question))


def two_pages(reports: Path) -> None:
    heading("Two web pages: the same article on another site")
    pages = str(HERE / "pages" / "ferry.html"), str(HERE / "pages" / "copy-of-ferry.html")
    run("compare", "--as", "page", *pages, "--html", str(reports / "pages.html"))


def two_sentences() -> None:
    heading("Sentences that mean the same, in Chinese and English")
    sentence = "The ferry does not run during storms."
    for other in ("遇到风暴时渡轮停航。", "In bad weather there is no boat.", "The bakery opens at seven."):
        print(f"{la.measures.meaning.similarity(sentence, other):5.2f}  {other}")


def two_records() -> None:
    heading("Two invoices, field by field")
    run("compare", "--as", "record", str(HERE / "invoice-a.json"), str(HERE / "invoice-b.json"))


def this_installation() -> None:
    heading("This installation")
    facts = la.info()
    there = [name for name, state in facts["extras"].items() if not state.startswith("not installed")]
    print(f"lookalike {facts['version']}, Python {facts['python']}, {facts['cpu']}; extras: {', '.join(there) or 'none'}", flush=True)
    subprocess.run([sys.executable, "-m", "lookalike", "selftest"], check=True)


def unless_missing(part: Callable[[], None]) -> None:
    """An extra that could not be installed costs its part of the demo, in one line."""
    try:
        part()
    except la.MissingExtra as error:
        print(f"left out: {error}")


def main(reports: Path) -> None:
    reports.mkdir(parents=True, exist_ok=True)
    an_edited_draft(reports)
    a_table_of_feedback(reports)
    a_corpus_without_copies(reports)
    with tempfile.TemporaryDirectory() as folder:
        a_search_among_many(Path(folder))
        a_search_by_text(Path(folder), reports)
    two_pages(reports)
    unless_missing(two_sentences)
    two_records()
    this_installation()
    heading("Look at the reports in a browser")
    for report in sorted(reports.glob("*.html")):
        print(report)
    heading("Try next")
    for command in ("compare FILE FILE", "dedupe CORPUS.jsonl --out CLEAN.jsonl", "serve --demo    # and open the page that it names"):
        print(f"  .venv/bin/lookalike {command}")


if __name__ == "__main__":
    os.chdir(Path(__file__).parent.parent)
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"))
