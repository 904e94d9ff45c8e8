"""How the command line starts and ends: it imports what a verb needs and no more, and does not take the interpreter apart."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from pathlib import Path

import pytest

from lookalike.lazy import imported

ROOT = Path(__file__).parents[2]
CORPUS = str(ROOT / "examples" / "corpus.jsonl")


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, timeout=120)


def test_dedupe_of_lines_imports_neither_documents_nor_pages_nor_other_fingerprints(tmp_path: Path) -> None:
    code = (
        "import json, sys\n"
        "from lookalike.cli import main\n"
        "try:\n"
        "    main(sys.argv[1:])\n"
        "except SystemExit as ended:\n"
        "    print(json.dumps([ended.code, sorted(sys.modules)]))\n"
    )
    done = python("-c", code, "dedupe", CORPUS, "--out", str(tmp_path / "o.jsonl"), "--quiet")
    code_of_exit, modules = json.loads(done.stdout.splitlines()[-1])
    assert code_of_exit == 0, done.stderr
    unwanted = {
        "lookalike.files.reading",
        "lookalike.markup.page",
        "lookalike.fingerprints.simhash",
        "lookalike.fingerprints.record",
        "lookalike.text.forms",
        "lookalike.text.segment",
        "lookalike.text.idf",
        "lookalike.deduping.levels",
        "lookalike.deduping.substrings.run",
        "subprocess",
        "logging",
        "difflib",
        "secrets",
        "hashlib",  # loads OpenSSL
        "shutil",  # and every way to pack a file
        "lzma",
        "lookalike.stores.matches",
        "lookalike.files.model",
    }
    assert not unwanted & set(modules)


@pytest.mark.parametrize("enabled", [True, False])
def test_an_import_leaves_the_collector_as_it_was(enabled: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        assert imported("lookalike.version").__name__ == "lookalike.version"
        assert gc.isenabled() is enabled
        with pytest.raises(ModuleNotFoundError):
            imported("lookalike.there_is_no_such_module")
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()


AFTERWARDS = """
import atexit, os, sys, threading
atexit.register(print, "at exit")
class Late:
    def __del__(self, write=os.write):
        write(1, b"taken apart\\n")
late = Late()
sys.argv = ["lookalike", *{arguments!r}]
{before}
from lookalike.cli import program
program()
"""


@pytest.mark.parametrize(
    ("arguments", "code"), [(["--version"], 0), (["no-such-verb"], 2), (["compare", CORPUS, str(ROOT / "LICENSE")], 1)]
)
def test_a_process_ends_at_once_with_its_code_and_after_what_was_asked_for_at_exit(arguments: list[str], code: int) -> None:
    done = python("-c", AFTERWARDS.format(arguments=arguments, before=""))
    assert done.returncode == code, done.stderr
    assert done.stdout.endswith("at exit\n")  # and nothing is taken apart behind it


STARTED = """
import atexit, gc, runpy, sys
atexit.register(lambda: print("looks", gc.get_threshold()[0], "garbage", gc.isenabled()))
sys.argv = ["lookalike", "--version"]
runpy.run_module("lookalike", run_name="__main__")
"""


def test_a_process_of_its_own_rarely_looks_for_garbage_but_does() -> None:
    done = python("-c", STARTED)
    assert done.stdout.endswith("looks 100000 garbage True\n"), done.stderr
    assert gc.get_threshold()[0] != 100_000  # and who imports the package decides for itself


@pytest.mark.parametrize(
    "before", ["sys.setprofile(lambda *_: None)", "threading.Thread(target=threading.Event().wait, daemon=True).start()"]
)
def test_where_somebody_watches_or_works_python_ends_as_always(before: str) -> None:
    done = python("-c", AFTERWARDS.format(arguments=["--version"], before=before))
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("at exit\ntaken apart\n")
