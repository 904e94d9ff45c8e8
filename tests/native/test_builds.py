"""Every build of the kernels gives the same bytes: for wider and narrower vectors, by another compiler, on another processor, without Linux."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import which

import pytest

ROOT = Path(__file__).parents[2]
NATIVE = ROOT / "native"
# What tests/native/digests.cpp calls, and what that calls.
SOURCES = [
    *(f"base/{name}.cpp" for name in ("dispatch", "keyed_hash", "secret")),
    *(f"sketch/{name}.cpp" for name in ("empty_bins", "feature_set", "minhash", "simhash", "ssdeep", "tlsh", "wide_throws", "winnow")),
    *(
        f"text/{name}.cpp"
        for name in (
            "ascii_blocks",
            "ascii_characters",
            "documents",
            "encoded_blocks",
            "shingle",
            "short_tokens",
            "simple_tokens",
            "token_edges",
            "unicode",
        )
    ),
]
LEVELS = ("plain", "avx2", "avx512")  # what the processor has not is left out by the program itself


def needed(*names: str) -> list[str]:
    """The programs, or a skip that says which package has them."""
    packages = {
        "g++": "g++",
        "clang++": "clang",
        "qemu-x86_64": "qemu-user",
        "qemu-aarch64": "qemu-user",
        "aarch64-linux-gnu-g++": "g++-aarch64-linux-gnu",
    }
    for name in names:
        if which(name) is None:
            pytest.skip(f"not applicable: there is no {name} here (apt-get install {packages[name]}; scripts/install_emulators.sh does it)")
    return [str(which(name)) for name in names]


OBJECTS = ROOT / "build/dev/CMakeFiles/_native.dir/native"  # of the module, where `make` has built it


def built_objects() -> list[str] | None:
    """Those of SOURCES that the module was made of, if no source is newer."""
    objects = [OBJECTS / f"{name}.o" for name in SOURCES]
    newest = max(path.stat().st_mtime for path in NATIVE.rglob("*") if path.is_file())
    fresh = all(path.exists() and path.stat().st_mtime > newest for path in objects)
    return [str(path) for path in objects] if fresh else None


def build(compiler: str, folder: Path, *flags: str, objects: list[str] | None = None) -> Path:
    """The program that prints digests, with cached objects where there is a cache."""
    command = [
        *(["ccache"] if which("ccache") else []),
        compiler,
        "-std=c++20",
        "-O2",
        "-ftree-vectorize",
        "-ffp-contract=off",
        f"-I{NATIVE}",
        *flags,
    ]

    def compiled(source: Path) -> str:
        target = folder / f"{source.stem}.o"
        done = subprocess.run([*command, "-c", str(source), "-o", str(target)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[:3000]
        return str(target)

    sources = [ROOT / "tests/native/digests.cpp", *(NATIVE / name for name in SOURCES if not objects)]
    with ThreadPoolExecutor(2) as workers:
        objects = [*workers.map(compiled, sources), *(objects or [])]
    program = folder / "digests"
    done = subprocess.run([compiler, *flags, *objects, "-o", str(program)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:3000]
    return program


def printed(*command: str, **environment: str) -> list[str]:
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=600)
    assert done.returncode == 0, done.stderr[:2000]
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    (compiler,) = needed("g++")
    program = str(build(compiler, tmp_path_factory.mktemp("gcc"), objects=built_objects()))
    plain, *wider = (printed(program, LOOKALIKE_VECTORS=level) for level in LEVELS)
    assert len(plain) > 100
    assert all(lines == plain for lines in wider)
    return plain


def test_gcc_and_clang_agree_at_every_width(expected: list[str], tmp_path: Path) -> None:
    (compiler,) = needed("clang++")
    program = str(build(compiler, tmp_path))
    for level in LEVELS:
        assert printed(program, LOOKALIKE_VECTORS=level) == expected


def test_arm64_agrees(expected: list[str], tmp_path: Path) -> None:
    compiler, emulator = needed("aarch64-linux-gnu-g++", "qemu-aarch64")
    assert printed(emulator, str(build(compiler, tmp_path, "-static"))) == expected


SELF_TEST = "from lookalike import _native, golden; print(_native.cpu_level(), all(check['passed'] for check in golden.selftest()))"


@pytest.mark.parametrize("level", LEVELS[:2])
def test_the_module_agrees_with_golden_vectors_at_every_width(level: str) -> None:
    assert printed(sys.executable, "-c", SELF_TEST, LOOKALIKE_VECTORS=level)[0].endswith("True")


def test_the_module_runs_on_an_old_processor() -> None:
    (emulator,) = needed("qemu-x86_64")
    its_own = {"OPENBLAS_CORETYPE": "Nehalem"}  # numpy's library obeys this variable, which may name a processor that this one is not
    assert printed(emulator, "-cpu", "Nehalem", sys.executable, "-c", SELF_TEST, **its_own) == ["x86-64 (SSE2) True"]


def test_the_kernels_compile_without_linux() -> None:
    (compiler,) = needed("clang++")
    own = ("base/mapped_guard.cpp", "sketch/feature_chunks.cpp", "text/row_reader.cpp")
    for source in (*(NATIVE / name for name in own), Path(__file__).parent / "threads.cpp"):
        done = subprocess.run(
            [compiler, "-std=c++20", "-fsyntax-only", "-DLOOKALIKE_NO_LINUX", f"-I{NATIVE}", str(source)],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr[:2000]
