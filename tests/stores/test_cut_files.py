"""Mapped segments that are cut while others read them: never a crash, never a wrong answer, an error that says what happened."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lookalike as la
from lookalike import _native
from lookalike.segments import container
from lookalike.testing import corpus

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the guard of mapped files is for Linux")
DOCUMENTS = 5000  # so many that SimHashes have tables


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "store"
    with la.open(path, kinds="simhash,minhash,winnowing,ssdeep,tlsh") as index:
        index.add(corpus(DOCUMENTS))
    assert len(list((path / "segments").iterdir())) == 5
    return path


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    subprocess.run(["cp", "-r", made, tmp_path / "store"], check=True)
    return tmp_path / "store"


CUT = """
import faulthandler, os, random, sys, threading, time
from pathlib import Path
import lookalike as la
from lookalike.segments import container
from lookalike.testing import corpus
container.MAPPED_FROM = 0
folder, how, seed = Path(sys.argv[1]) / "segments", sys.argv[2], int(sys.argv[3])
if "handler" in how:
    faulthandler.enable()
chance = random.Random(seed)
texts = [text for _, text in corpus(200)[::31]]
kinds = ("near", "simhash", "passages", "ssdeep", "tlsh")
shown = lambda found: [(match.id, match.score) for match in found]
with la.open(sys.argv[1], read_only=True) as index:
    expected = {(by, text): shown(index.search(text, by=by)) for by in kinds for text in texts}
    said, started, stop = [], threading.Barrier(4), threading.Event()
    if "later" in how:
        faulthandler.enable()
    def ask(number):
        asked = list(expected)
        random.Random(number).shuffle(asked)
        started.wait()
        for _ in range(1000):
            for by, text in asked:
                try:
                    if shown(index.search(text, by=by)) != expected[by, text]:
                        said.append("wrong")
                except la.Corrupt as error:
                    said.append("refused" if "in use" in str(error) else repr(error))
                    return
                except BaseException as error:
                    said.append(repr(error))
                    return
    threads = [threading.Thread(target=ask, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    started.wait()
    time.sleep(chance.uniform(0, 0.05))
    for path in sorted(folder.iterdir(), key=lambda _: chance.random()):
        size = path.stat().st_size
        with path.open("r+b") as file:
            if "over" in how:
                file.write(chance.randbytes(size))
            else:
                file.truncate(chance.choice([0, size // 2, chance.randrange(size)]))
    for thread in threads:
        thread.join()
    print(sorted(set(said)))
with la.open(sys.argv[1], read_only=True) as index:
    print(all(shown(index.search(text, by=by)) == found for (by, text), found in expected.items()))
"""


@pytest.mark.parametrize("how", ["cut", "cut handler", "cut later", "overwritten"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_files_that_are_cut_while_threads_search(store: Path, how: str, seed: int) -> None:
    done = subprocess.run([sys.executable, "-c", CUT, store, how, str(seed)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()) == (0, ["['refused']", "True"]), done.stderr[-2000:]


READ = """
import os, random, sys
from pathlib import Path
import numpy as np
import lookalike as la
from lookalike.segments import container
from lookalike.testing import corpus
container.MAPPED_FROM = 0
container.verify_mapped = lambda folder: None
from lookalike.stores.embedded import direct, store as embedded
direct.verify_mapped = embedded.verify_mapped = container.verify_mapped
made, kind, how = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
by = {"minhash": "near", "winnowing": "passages"}.get(kind, kind)
texts = [text for _, text in corpus(200)[::31]]

def read(store, keep):
    (path,) = (store / "segments").glob(f"*.{kind}")
    with la.open(store, read_only=True) as index:
        for text in texts:
            index.search(text, by=by, limit=None)
        size = path.stat().st_size
        with path.open("r+b") as file:
            if how == "cut":
                file.truncate(int(size * keep))
            else:
                file.seek(int(size * keep))
                rest = size - int(size * keep)
                file.write(random.Random(keep).randbytes(rest) if how == "random" else b"\\xff" * rest)
        for text, limit in [(text, limit) for text in texts for limit in (None, 10)]:
            try:
                index.search(text, by=by, limit=limit)
            except (la.StoreError, KeyError, ValueError, IndexError, OverflowError):
                pass
        for part in index._store._cache._kept[kind][0].all():
            try:
                type(part).merge([part], np.zeros(0, "int64"))
            except (ValueError, OverflowError, MemoryError):
                pass

with la.open(made, read_only=True) as index:
    index.search(texts[0], by=by)  # a child has imported all of it
for keep in sys.argv[4:]:
    child = os.fork()
    if child == 0:
        try:
            read(Path(f"{made}{keep}"), float(keep))
            print("alive", flush=True)
        finally:
            os._exit(0)
    print(keep, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
KEPT = ("0.0", "0.2", "0.4", "0.6", "0.8")


@pytest.mark.parametrize("how", ["cut", "random", "ones"])
@pytest.mark.parametrize("kind", ["simhash", "minhash", "winnowing", "ssdeep", "tlsh"])
def test_kernels_stay_within_bounds_whatever_a_file_becomes(store: Path, kind: str, how: str) -> None:
    """Without the checks before and after: what is read after a file was changed must do no harm."""
    for keep in KEPT:
        subprocess.run(["cp", "-r", store, f"{store}{keep}"], check=True)
    done = subprocess.run([sys.executable, "-c", READ, store, kind, how, *KEPT], capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout == "".join(f"alive\n{keep} 0\n" for keep in KEPT), done.stderr[-2000:]


def test_a_guard_reads_zeros_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\1" * 100_000)
    with path.open("rb") as file:
        mapped = container._Mapped.of(file, path, 100_000)
    other = np.frombuffer(mapped, dtype=np.uint8)
    assert other.sum() == 100_000
    assert not mapped.guard.changed()
    with path.open("r+b") as file:
        file.truncate(10_000)
    assert mapped.guard.changed()
    assert other[:10_000].sum() == 10_000
    assert not mapped.guard.was_cut
    assert other[20_000:].sum() == 0
    assert mapped.guard.was_cut


def test_a_merge_of_files_that_are_cut_is_not_used(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "MAPPED_FROM", 0)
    with la.open(store) as index:
        assert index.remove("doc-0") == 1
        expected = [match.id for match in index.search(corpus(9)[8][1])]
        opened = container.read_segment

        def cut(path: Path, *arguments: object) -> dict[str, np.ndarray]:
            sections = opened(path, *arguments)  # type: ignore[arg-type]
            with path.open("r+b") as file:
                file.truncate(5000)
            return sections

        monkeypatch.setattr("lookalike.stores.embedded.snapshots.read_segment", cut)
        with pytest.raises(la.Corrupt, match="cut or overwritten"):
            index.compact()
    with la.open(store) as index:
        assert [match.id for match in index.search(corpus(9)[8][1])] == expected


OTHERS = """
import ctypes, mmap, sys, tempfile
from pathlib import Path
import numpy as np
from lookalike.segments import container
def mapped(size):
    file = tempfile.NamedTemporaryFile()
    file.write(b"1" * size)
    file.flush()
    return file
ours, theirs = mapped(1 << 20), mapped(1 << 20)
kept = container._Mapped.of(ours, Path("ours"), 1 << 20)
other = np.frombuffer(mmap.mmap(theirs.fileno(), 1 << 20, access=mmap.ACCESS_READ), np.uint8)
if sys.argv[1] == "released":
    other = np.frombuffer(mmap.mmap(ours.fileno(), 1 << 20, access=mmap.ACCESS_READ), np.uint8)
    del kept
ours.truncate(0)
theirs.truncate(0)
print("reads", flush=True)
print(other.sum())
"""


@pytest.mark.parametrize("how", ["theirs", "released"])
@pytest.mark.parametrize("handler", [[], ["-X", "faulthandler"]])
def test_a_fault_elsewhere_is_not_ours(how: str, handler: list[str]) -> None:
    done = subprocess.run([sys.executable, *handler, "-c", OTHERS, how], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (-signal.SIGBUS, "reads\n")
    assert ("Fatal Python error: Bus error" in done.stderr) == bool(handler)


def test_a_handler_of_python_is_kept_and_gets_what_is_sent() -> None:
    code = """
import os, signal, tempfile
from pathlib import Path
from lookalike.segments import container
heard = []
signal.signal(signal.SIGBUS, lambda *_: heard.append(1))
file = tempfile.NamedTemporaryFile()
file.truncate(10000)
kept = container._Mapped.of(file, Path("x"), 10000)
os.kill(os.getpid(), signal.SIGBUS)
os.kill(os.getpid(), signal.SIGBUS)
del kept
os.kill(os.getpid(), signal.SIGBUS)
print(len(heard))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (0, "3\n"), done.stderr


def test_what_comes_from_outside_is_checked() -> None:
    for wrong in (None, "text", 7, np.zeros(3)):
        with pytest.raises(TypeError):
            _native.MappedFile(wrong, -1)
    guard = _native.MappedFile(b"", -1)
    guard.release()
    guard.release()
    assert not guard.was_cut
