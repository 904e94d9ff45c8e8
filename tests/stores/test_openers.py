"""Stores by the scheme of their location: a package brings one, and it opens like ours."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lookalike as la
from lookalike.stores.embedded.opening import open_folder
from lookalike.stores.openers import stores
from lookalike.stores.settings import Wanted
from lookalike.testing import corpus


@pytest.fixture
def shelf() -> Iterator[None]:
    """A store of somebody else: shelf://NAME is a folder of that name with other manners."""

    def open_shelf(location: str, collection: str, wanted: Wanted, **how: Any) -> Any:
        return open_folder(f"{location.partition('://')[2]}.shelf", collection, wanted, **how)

    stores.register("shelf", open_shelf)
    yield
    del stores._entries["shelf"]


def test_a_registered_scheme_opens(tmp_path: Path, shelf: None) -> None:
    documents = corpus(10)
    with la.open(f"shelf://{tmp_path}/one", collection="mine") as index:
        index.add(documents)
    assert (tmp_path / "one.shelf").is_dir()
    with la.open(f"SHELF://{tmp_path}/one", collection="mine", read_only=True) as index:
        assert index.search(documents[3][1])[0].id == documents[3][0]
    with pytest.raises(la.InputError, match=r"shelves:// is not a store: .*memory://, postgres://, postgresql://, shards://, shelf://"):
        la.open("shelves://x")


def test_our_own_are_registered_in_the_same_way() -> None:
    assert set(stores) == {"path", "memory", "postgres", "postgresql", "shards"}
    with pytest.raises(la.InputError, match="path:// is not a store"):
        la.open("path://x")


def test_an_installed_package_brings_a_scheme(tmp_path: Path) -> None:
    info = tmp_path / "lookalike_shelf-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lookalike-shelf\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[lookalike.store]\nshelf = lookalike_shelf:open_shelf\n", encoding="utf-8")
    (tmp_path / "lookalike_shelf.py").write_text(
        "from lookalike.stores.embedded.opening import open_folder\n"
        "def open_shelf(location, collection, wanted, **how):\n"
        "    return open_folder(location.partition('://')[2] + '.shelf', collection, wanted, **how)\n",
        encoding="utf-8",
    )
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nimport lookalike as la\n"
        f"with la.open('shelf://{tmp_path}/two') as index:\n    index.add('a', 'a text')\n    print(len(index))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "1\n"
    assert (tmp_path / "two.shelf").is_dir()


def test_a_folder_needs_no_driver_of_a_database(tmp_path: Path) -> None:
    """Whoever installed the package without extras has no psycopg."""
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "import lookalike as la\n"
        "with la.open(sys.argv[1]) as index:\n"
        "    index.add('a', 'one text that is stored here')\n"
        "    print(index.search('one text that is stored here')[0].id)\n"
    )
    run = subprocess.run([sys.executable, "-c", code, str(tmp_path / "store")], capture_output=True, text=True, check=False)
    assert (run.stdout, run.stderr) == ("a\n", "")
