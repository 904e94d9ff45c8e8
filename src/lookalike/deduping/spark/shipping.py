"""A store on its way to every machine: one that is a folder is copied there, under a name that no other has."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Shipped(NamedTuple):
    """Where a task finds a store. Two runs never have the same: what a process opened for one is not taken for another."""

    location: str
    folder: str | None  # among the files of Spark; None: the location is reached from everywhere
    token: str

    def place(self) -> str:
        if self.folder is None:
            return self.location
        from pyspark import SparkFiles

        return str(SparkFiles.get(self.folder))


def shipped(session: SparkSession, store: str | Path) -> Shipped:
    path, token = Path(store), uuid.uuid4().hex
    if not path.is_dir():
        return Shipped(str(store), None, token)  # a database
    context = session.sparkContext
    if context.master.startswith("local["):
        return Shipped(str(path.absolute()), None, token)  # all tasks are on this machine
    name = f"store-{token}"
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # executors that come later fetch it, too
    # Spark sends no folders of this machine, but archives, which it unpacks under the name behind the sign.
    whole = path.absolute()
    archive = shutil.make_archive(str(Path(folder) / name), "tar", whole.parent, whole.name)
    context.addArchive(f"{archive}#{name}")
    return Shipped(str(store), f"{name}/{whole.name}", token)
