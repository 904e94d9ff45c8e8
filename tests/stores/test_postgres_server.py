"""The server of the tests itself: it must run wherever the project was cloned, as root too."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from postgres_server import Server, binaries, open_folder, packaged_binaries, runs, server_user

ONLY_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="not applicable: only root runs the server as another user")


@pytest.fixture
def folder() -> Iterator[Path]:
    """Short enough for a socket, and open to the server's user."""
    path = Path(tempfile.mkdtemp(prefix="lookalike-server-", dir=open_folder()))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def closed(folder: Path) -> Path:
    """The package's server below a folder that nobody else may enter, as in a home of root."""
    packaged = packaged_binaries()
    package = packaged.parent.parent
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    for part in (packaged.parent, *package.parent.glob(f"{package.name}.libs")):
        shutil.copytree(part, closed / part.relative_to(package.parent), symlinks=True)
    return closed / packaged.relative_to(package.parent)


def answers(server: Server) -> bool:
    server.make()
    server.start()
    try:
        with psycopg.connect(server.url("postgres")) as connection:
            return connection.execute("SELECT 6 * 7").fetchone() == (42,)
    finally:
        server.stop()


def home(folder: Path) -> Path:
    (folder / "server").mkdir()
    return folder / "server"


@ONLY_ROOT
def test_a_closed_folder_is_noticed(closed: Path) -> None:
    user = server_user()
    become = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", "--"]
    assert not runs(become, closed)
    assert not runs(become, closed / "no such folder")


def test_it_runs_from_a_closed_folder(closed: Path, folder: Path) -> None:
    assert answers(Server(home(folder), closed))


def test_it_runs_from_where_it_is_installed(folder: Path) -> None:
    assert answers(Server(home(folder), binaries()))


@ONLY_ROOT
def test_a_closed_temporary_folder_is_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(closed))
    assert open_folder() != closed
