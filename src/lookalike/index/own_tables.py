"""``index_table``: a collection on a table that somebody already has in PostgreSQL; ``drop_collection``: of any store."""

from __future__ import annotations

from pathlib import Path

from lookalike.checks import check_choice, check_share, check_str
from lookalike.errors import InputError
from lookalike.recipe import Recipe, resolve
from lookalike.stores.embedded.store import EmbeddedStore
from lookalike.stores.postgres.own_tables import KINDS, connected, drop_made_collection, make_table_collection
from lookalike.stores.postgres.own_tables import TableCollection as TableCollection
from lookalike.stores.settings import Settings, Wanted

DEFAULT = "default"


def index_table(
    url: str,
    table: str,
    *,
    column: str,
    key: str,
    kind: str = "simhash",
    collection: str | None = None,
    threshold: float = 0.8,
    recipe: Recipe | str | None = None,
) -> TableCollection:
    """Make a collection on a table of one's own in PostgreSQL. It is current with every change of the table, since it is indexes on it.

    ``table`` is named as in SQL, ``column`` and ``key`` exactly as they are called. ``kind`` says what the column holds: ``simhash``
    (bigint, bit(64), numeric or hexadecimal text), ``minhash`` (integer[] or bigint[]) or ``text``. The collection is called like the
    table unless it is named. For minhash and text, similarities from ``threshold`` on are found. ``recipe`` is that of the SimHashes.
    """
    for name, value in (("url", url), ("table", table), ("column", column), ("key", key)):
        _check_name(name, value)
    check_choice("kind", kind, KINDS)
    check_share("threshold", threshold)
    if collection is not None:
        _check_name("collection", collection)
    settings = None if recipe is None else Settings(recipe=resolve(recipe), kinds=("simhash",), keep_text=False).to_json()
    with connected(url, collection or DEFAULT, create=True) as (connection, named):
        called = None if collection is None and named == DEFAULT else named  # the URL may name it too
        return make_table_collection(connection, called, table, column, key, kind, threshold, settings)


def drop_collection(url: str, collection: str) -> int:
    """Drop a collection of a store with all its documents; returns how many there were. ``url``: of a database, or the path of a folder.

    Of a collection on a table of one's own the indexes are dropped, and the table stays as it is.
    """
    _check_name("url", url)
    _check_name("collection", collection)
    if "://" not in url:
        return EmbeddedStore(Path(url), collection, Wanted(), create=False).drop()
    with connected(url, collection, create=False) as (connection, _):
        return drop_made_collection(connection, collection)


def _check_name(name: str, value: object) -> None:
    text = check_str(name, value)
    if not text or "\0" in text or any("\ud800" <= sign <= "\udfff" for sign in text):
        raise InputError(f"{name}: give a name that PostgreSQL can have: not empty, no NUL, no lone surrogates")
