"""The command line as a program: real processes, real exit codes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lookalike as la

Run = Callable[..., Any]
ENVIRONMENT = {**os.environ, "PYTHONIOENCODING": "utf-8"}


def lookalike(*args: str, stdin: bytes = b"", cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", "from lookalike.cli import main; main()", *args]
    return subprocess.run(command, input=stdin, capture_output=True, cwd=cwd, env=ENVIRONMENT | environment, check=False, timeout=120)


def failure(*args: str, stdin: bytes = b"", code: int = 2) -> str:
    """The message of a call that must fail: one line that says what, and no traceback."""
    done = lookalike(*args, stdin=stdin)
    message = done.stderr.decode()
    assert done.returncode == code, message
    assert "Traceback" not in message
    assert done.stdout == b""
    return message


@pytest.fixture
def texts(tmp_path: Path) -> tuple[str, str, str]:
    same = "近重复检测要快，也要准。指纹相近的文档，先当作候选，再逐一核对原文。"
    for name, text in (("a.txt", same), ("b.txt", same.replace("逐一", "一一")), ("c.txt", "天气很好，大家一起去海边散步，晚上回家做饭。")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return str(tmp_path / "a.txt"), str(tmp_path / "b.txt"), str(tmp_path / "c.txt")


def test_fingerprint_json_of_every_kind(texts: tuple[str, str, str]) -> None:
    done = lookalike("fingerprint", texts[0], texts[1], "--json")
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.decode().splitlines()]
    assert [line["input"] for line in lines] == list(texts[:2])
    found = lines[0]["fingerprints"]
    text = Path(texts[0]).read_text(encoding="utf-8")
    assert found["simhash"] == la.simhash(text).to_dict()
    assert found["minhash"] == la.minhash(text).to_dict()
    assert found["winnowing"]["values"] == list(la.winnow(text).values)
    assert found["winnowing"]["spans"] == [list(span) for span in la.winnow(text).spans]
    assert found["sha256"]["value"] == la.digest(Path(texts[0])).value
    assert found["ssdeep"]["value"] == la.ssdeep(text).value
    assert found["tlsh"]["value"] == la.tlsh(text).value
    assert found["karp-rabin"]["value"] == la.karp_rabin(text).joined
    assert all("recipe" in each for each in found.values())
    assert lines[0]["encoding"] == "utf-8"


def test_fingerprint_of_text_with_a_recipe() -> None:
    done = lookalike("fingerprint", "--text", "北京增值税电子普通发票.pdf", "--kind", "simhash,tlsh", "--recipe", "simhash-py", "--json")
    found = json.loads(done.stdout)["fingerprints"]
    assert found["simhash"] == {"value": "0xa7f48284b51a46bd", "bits": 64, "recipe": found["simhash"]["recipe"]}
    assert found["tlsh"]["value"] is None
    assert "too short" in found["tlsh"]["status"]


def test_fingerprint_of_a_binary_file(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(b"%PDF-1.7\n" + bytes(range(256)) * 40)
    found = json.loads(lookalike("fingerprint", str(path), "--json").stdout)["fingerprints"]
    assert found["sha256"]["value"] == la.digest(path).value
    assert found["simhash"]["value"] is None
    assert "no text" in found["simhash"]["status"]
    assert "binary" in failure("fingerprint", str(path), "--kind", "simhash")


def test_fingerprint_of_a_record(tmp_path: Path) -> None:
    path = tmp_path / "invoice.json"
    path.write_text('{"domain": "invoice", "confidence": 0.9, "words": ["税", "票"]}', encoding="utf-8")
    found = json.loads(lookalike("fingerprint", str(path), "--kind", "record", "--json").stdout)["fingerprints"]["record"]
    assert found["value"] == la.record(json.loads(path.read_text(encoding="utf-8"))).value
    assert "not JSON" in failure("fingerprint", "--text", "{", "--kind", "record")


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
def test_text_files_of_any_encoding(tmp_path: Path, codec: str) -> None:
    text = "相似的文本会得到相近的指纹，这与编码无关。" * 3
    (tmp_path / "a").write_bytes(text.encode(codec))
    (tmp_path / "b").write_text(text, encoding="utf-8")
    done = lookalike("compare", str(tmp_path / "a"), str(tmp_path / "b"), "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["score"] == 1.0
    assert json.loads(done.stdout)["inputs"][1] == {"input": str(tmp_path / "b"), "encoding": "utf-8"}
    stated = json.loads(lookalike("fingerprint", str(tmp_path / "a"), "--kind", "simhash", "--json").stdout)["encoding"]
    assert stated.replace("-le", "").replace("-be", "").replace("-sig", "") in codec


def test_compare_exit_codes_and_json(texts: tuple[str, str, str]) -> None:
    a, b, c = texts
    alike, unlike = lookalike("compare", a, b, "--json"), lookalike("compare", a, c, "--json")
    assert (alike.returncode, unlike.returncode) == (0, 1)
    found = json.loads(alike.stdout)
    assert set(found) >= {"score", "alike", "measures", "edits", "passages"}
    assert found["alike"] is True
    assert set(found["edits"]) == {"kept", "deleted", "inserted", "moved", "reworded"}
    assert found["measures"].keys() >= {"cosine", "jaccard", "simhash", "minhash", "levenshtein"}
    text = Path(a).read_text(encoding="utf-8")
    other = Path(b).read_text(encoding="utf-8")
    for passage in found["passages"]:
        assert la.fold(text[slice(*passage["left"])]) == la.fold(other[slice(*passage["right"])])
    assert lookalike("compare", a, b, "--threshold", "0.9999").returncode == 1


def test_compare_readable(texts: tuple[str, str, str]) -> None:
    out = lookalike("compare", texts[0], texts[1]).stdout.decode()
    assert out.startswith("alike: calibrated score 0.")
    assert "cosine" in out
    assert "\x1b" not in out


def test_compare_chosen_measures_and_stdin(texts: tuple[str, str, str]) -> None:
    done = lookalike("compare", "-", texts[0], "--measure", "cosine,ratio", "--json", stdin=Path(texts[0]).read_bytes())
    assert json.loads(done.stdout)["measures"] == {"cosine": 1.0, "ratio": 1.0}
    assert "once" in failure("compare", "-", "-", stdin=b"x")
    assert "unknown measure" in failure("compare", texts[0], texts[1], "--measure", "nonsense")


def test_compare_files_and_records(tmp_path: Path) -> None:
    block = b"".join(bytes([i * j % 251]) for i in range(150) for j in range(60))
    (tmp_path / "a.bin").write_bytes(block)
    (tmp_path / "b.bin").write_bytes(block[:4000] + b"inserted" + block[4000:])
    found = json.loads(
        lookalike("compare", str(tmp_path / "a.bin"), str(tmp_path / "b.bin"), "--as", "file", "--json", "--threshold", "0.5").stdout
    )
    assert found["measures"]["sha256"] == 0
    assert found["score"] > 0.5
    (tmp_path / "a.json").write_text('{"domain": "invoice", "confidence": 0.9}', encoding="utf-8")
    (tmp_path / "b.json").write_text('{"domain": "invoice", "confidence": 0.45}', encoding="utf-8")
    found = json.loads(lookalike("compare", str(tmp_path / "a.json"), str(tmp_path / "b.json"), "--as", "record", "--json").stdout)
    assert found["parts"]["domain"]["similarity"] == 1.0
    assert found["score"] == 0.75


def test_info_and_selftest() -> None:
    assert json.loads(lookalike("info", "--json").stdout)["version"] == la.__version__
    assert b"golden vectors agree" in lookalike("selftest").stdout
    assert json.loads(lookalike("selftest", "--json").stdout)["passed"] is True
    assert lookalike("--version").stdout.decode().strip() == f"lookalike {la.__version__}"
    assert b"pip install 'lookalike[" in lookalike("info").stdout


def test_learned_idf(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("the cat\nthe dog\nthe fish\n", encoding="utf-8")
    out = tmp_path / "words.idf"
    done = lookalike("idf", str(corpus), "--lines", "--tokenizer", "words", "--out", str(out), "--json")
    assert json.loads(done.stdout)["documents"] == 3
    recipe = la.Recipe(tokenizer="words", ngram=1, weights="tfidf", idf=str(out))
    assert la.simhash("the cat", recipe=recipe).value != la.simhash("the dog", recipe=recipe).value
    assert "does not exist" in failure("idf", str(tmp_path / "missing"), "--out", str(out))


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("fingerprint",), "nothing to fingerprint"),
        (("fingerprint", "missing.txt"), "missing.txt"),
        (("fingerprint", "--text", "x", "--kind", "nonsense"), "unknown kind"),
        (("fingerprint", "--text", "x", "--recipe", "nonsense"), "unknown recipe"),
        (("fingerprint", "."), "."),
        (("compare", "missing.txt", "missing.txt"), "missing.txt"),
        (("compare", "one"), "Missing argument"),
        (("nonsense",), "No such command"),
        (("compare", "a", "b", "--as", "nonsense"), "nonsense"),
        (("compare", "a", "b", "--threshold", "x"), "x"),
    ],
)
def test_mistakes_get_one_clear_line(args: tuple[str, ...], message: str) -> None:
    assert message in failure(*args)


def test_bad_thresholds_and_encodings(texts: tuple[str, str, str]) -> None:
    assert "threshold=7" in failure("compare", texts[0], texts[1], "--threshold", "7")
    assert "nonsense" in failure("compare", texts[0], texts[1], "--encoding", "nonsense")


def test_one_bad_file_does_not_spoil_the_others(texts: tuple[str, str, str]) -> None:
    done = lookalike("fingerprint", texts[0], "missing.txt", texts[1], "--kind", "sha256", "--json")
    assert done.returncode == 2
    assert [json.loads(line)["input"] for line in done.stdout.splitlines()] == list(texts[:2])
    assert b"missing.txt" in done.stderr


@pytest.mark.parametrize(
    "payload", [b"", b"\x00", b"\xff\xfe\x00", b"\xed\xa0\x80 lone surrogate", b"\x80" * 50, "a\u200b".encode(), b"\n" * 1000]
)
def test_hostile_bytes_on_stdin(payload: bytes) -> None:
    done = lookalike("fingerprint", "-", "--json", stdin=payload)
    assert done.returncode in (0, 2)
    assert b"Traceback" not in done.stderr
    if done.returncode == 0:
        json.loads(done.stdout)


def test_a_long_line(tmp_path: Path) -> None:
    """20 MB without a line break; only bounded kinds, so that it stays quick."""
    path = tmp_path / "long.txt"
    path.write_bytes(b"lorem ipsum dolor " * 1_100_000)
    found = json.loads(lookalike("fingerprint", str(path), "--kind", "simhash,minhash,ssdeep,tlsh,sha256", "--json").stdout)["fingerprints"]
    assert found["simhash"]["value"] == la.simhash("lorem ipsum dolor " * 1_100_000).hex


def test_a_reader_that_goes_away() -> None:
    command = f"{sys.executable} -c 'from lookalike.cli import main; main()' fingerprint --text x --json | head -c 1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, env=ENVIRONMENT, check=False)
    assert b"Traceback" not in done.stderr
    assert b"Exception" not in done.stderr


def test_a_full_disk(texts: tuple[str, str, str]) -> None:
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-c", "from lookalike.cli import main; main()", "fingerprint", texts[0], "--json"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=ENVIRONMENT, check=False)
    assert done.returncode == 2
    assert b"No space left" in done.stderr
    assert b"Traceback" not in done.stderr


def test_help_names_every_verb(run: Run) -> None:
    from lookalike.cli import VERBS

    out = lookalike("--help").stdout.decode()
    for verb in VERBS:
        assert verb in out
        assert run(verb, "--help").returncode == 0


def test_the_documented_json_of_compare_is_what_is_printed(tmp_path: Path) -> None:
    """Every key that some comparison prints is in docs/cli.md, and no other."""
    root = Path(__file__).parents[2]
    schema = (root / "docs" / "cli.md").read_text(encoding="utf-8").split('```\n{"score", "scale", "alike"')[1].split("\n```")[0]
    nested = re.compile(r"\{[^{}]*\}")
    while nested.search(schema[:-1]):
        schema = nested.sub("…", schema[:-1]) + "}"
    documented = {"score", "scale", "alike"} | set(re.findall(r'(?:[{,]|^)\s*"(\w+)"', schema))
    examples = root / "examples"
    (tmp_path / "template.txt").write_text(" ".join((examples / "left.txt").read_text(encoding="utf-8").split()[:40]), encoding="utf-8")
    pages = sorted(map(str, (examples / "pages").glob("*.html")))[:2]
    printed: set[str] = set()
    for args in (
        ["--ignore", str(tmp_path / "template.txt"), str(examples / "left.txt"), str(examples / "right.txt")],
        ["--as", "record", str(examples / "invoice-a.json"), str(examples / "invoice-b.json")],
        pages,
    ):
        done = lookalike("compare", "--json", *args)
        assert done.returncode in (0, 1), done.stderr
        printed |= set(json.loads(done.stdout))
    assert printed == documented
