"""Keyed collections: what somebody without the secret makes looks like nothing, in every store, and the secret stays where it is."""

from __future__ import annotations

import base64
import copy
import json
import os
import pickle
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

import lookalike as la
from crafted_collisions import forged
from first_format import as_first_format
from lookalike.errors import StoreError
from lookalike.keys import Key
from lookalike.stores.given import Given, fingerprinted
from postgres_server import empty_database, empty_store

GENUINE = "the council voted to rebuild the old market hall beside the river before the end of next winter"
FORGED = forged(GENUINE)
BOTH = [("genuine", GENUINE), ("forged", FORGED)]
RECIPES = {
    "default": la.Recipe(),
    "chars": la.Recipe(tokenizer="chars", ngram=9),
    "words": la.Recipe(tokenizer="jieba", ngram=2),
    "weighed": la.Recipe(ngram=1, stop_words="en"),
}


@pytest.fixture(params=["memory", "embedded", "postgres"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "memory":
        return "memory://"
    return empty_store() if request.param == "postgres" else str(tmp_path / "store.lookalike")


@pytest.fixture(params=["embedded", "postgres"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return empty_store() if request.param == "postgres" else str(tmp_path / "store.lookalike")


def secret_of(location: str) -> bytes:
    if location.startswith("postgresql"):
        with psycopg.connect(location) as connection:
            return bytes(connection.execute("SELECT secret FROM lookalike.secrets").fetchone()[0])
    with closing(sqlite3.connect(f"{location}/store.sqlite")) as database:
        return bytes(database.execute("SELECT secret FROM secrets").fetchone()[0])


def change_secrets(location: str, statement: str, secret: bytes | None = None) -> None:
    """``statement`` is about a table SECRETS."""
    if location.startswith("postgresql"):
        with psycopg.connect(location, autocommit=True) as connection:
            connection.execute(statement.replace("SECRETS", "lookalike.secrets").replace("?", "%s"), None if secret is None else (secret,))
        return
    database = sqlite3.connect(f"{location}/store.sqlite")
    database.execute(statement.replace("SECRETS", "secrets"), () if secret is None else (secret,))
    database.commit()
    database.close()


@pytest.mark.parametrize("keep_text", [True, False])
def test_forged_texts_look_like_nothing(location: str, keep_text: bool) -> None:
    """Without a key all of these find the forged text where nothing is verified: the first half shows that the test can fail."""
    for keyed in (False, True):
        with la.open(location, collection=f"keyed {keyed}", keyed=keyed, keep_text=keep_text) as index:
            index.add(BOTH)
            found = [match.id for match in index.search(GENUINE, by="simhash", k=3)]
            assert found == (["genuine"] if keyed else ["genuine", "forged"])
            found = [match.id for match in index.search(minhash=la.minhash(GENUINE, recipe=index.recipe))]
            assert found == (["genuine"] if keyed else ["genuine", "forged"])
            assert bool(index.clusters(by="simhash")) != keyed
            if not keep_text:
                for by in ("near", "passages"):
                    assert [match.id for match in index.search(GENUINE, by=by)] == (["genuine"] if keyed else ["genuine", "forged"])
            assert (len(index.search_texts([GENUINE, FORGED])[1]) == 1) or not keyed
            assert index.check().ok


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_crafted_words_have_other_fingerprints(location: str, recipe: la.Recipe) -> None:
    kinds = "simhash,minhash" if recipe.stop_words else "simhash,minhash,winnowing"
    with la.open(location, recipe=recipe, keyed=True, kinds=kinds) as index:
        index.add([*BOTH, ("copy", GENUINE.upper())])
        own, other = (la.simhash(text, recipe=index.recipe) for text in (GENUINE, FORGED))
        assert own.distance(other) > 8
        own, other = (la.minhash(text, recipe=index.recipe) for text in (GENUINE, FORGED))
        assert own.similarity(other) < 0.1
        for by in ("near", "simhash"):
            assert [match.id for match in index.search(GENUINE, by=by)] == ["genuine", "copy"]
        if "winnowing" in kinds:
            own, other = (la.winnow(text, recipe=index.recipe) for text in (GENUINE, FORGED))
            assert set(own.values).isdisjoint(other.values)
            assert [match.id for match in index.search(GENUINE, by="passages")] == ["genuine", "copy"]
        assert [[member.id for member in cluster.removed] for cluster in index.clusters()] == [["copy"]]
        assert index.check().ok


def test_fingerprints_of_two_collections_are_not_compared(location: str) -> None:
    with ExitStack() as opened:
        # Each in a folder of its own: a store has one writer.
        places = [location if "://" in location else f"{location}.{name}" for name in ("one", "two", "plain")]
        one, two, plain = (
            opened.enter_context(la.open(place, collection=f"number {number}", keyed=number < 2)) for number, place in enumerate(places)
        )
        prints = [la.simhash(GENUINE, recipe=index.recipe) for index in (one, two, plain)]
        assert len({each.value for each in prints}) == len({each.recipe for each in prints}) == 3
        assert prints[2] == la.simhash(GENUINE)
        assert one.recipe.id.startswith("default-keyed.")
        for index, own in zip((one, two, plain), prints, strict=True):
            index.add("genuine", GENUINE)
            assert [match.id for match in index.search(simhash=own)] == ["genuine"]
            assert index.search_simhashes([own]).ids.tolist() == ["genuine"]
            for other in prints:
                if other != own:
                    for call in (lambda i=index, o=other: i.search(simhash=o), lambda i=index, o=other: i.search_simhashes([o])):
                        with pytest.raises(la.RecipeMismatch):
                            call()
                    with pytest.raises(la.RecipeMismatch):
                        index.add_simhashes(["other"], [other])
                    with pytest.raises(la.RecipeMismatch):
                        own.distance(other)
        with pytest.raises(la.RecipeMismatch):
            one.search(minhash=la.minhash(GENUINE))
        with pytest.raises(la.RecipeMismatch):
            one.add_minhashes(["other"], [la.minhash(GENUINE)])


def test_numbers_do_not_say_what_they_are_of(location: str) -> None:
    import numpy as np

    with la.open(location, keyed=True) as index:
        calls: list[Callable[[], object]] = [
            lambda: index.search(simhash=7),
            lambda: index.search_simhashes([7]),
            lambda: index.search_simhashes(np.arange(3, dtype=np.uint64)),
            lambda: index.add_simhashes([1], [7]),
            lambda: index.add_simhashes([1, 2], [la.simhash("a", recipe=index.recipe), 7]),
        ]
        for call in calls:
            with pytest.raises(la.InputError, match=r"keyed, and a number does not say .* recipe=index.recipe"):
                call()
        assert len(index) == 0
        index.add_simhashes([1], [la.simhash(GENUINE, recipe=index.recipe)])
        assert [match.id for match in index.search(GENUINE, by="simhash")] == [1]


def test_it_stays_as_it_was_made(kept: str) -> None:
    with la.open(kept, keyed=True) as index:
        index.add(BOTH)
        recipe, settings = index.recipe, index.settings
        assert settings["keyed"] is True
        assert settings["key_check"] == recipe.key.check
    for options in ({}, {"keyed": True}, {"read_only": True}, {"recipe": "default"}, {"keyed": True, "recipe": "default"}):
        with la.open(kept, **options) as index:
            assert (index.recipe, index.settings) == (recipe, settings)
            assert [match.id for match in index.search(GENUINE)] == ["genuine"]
            assert [match.id for match in index.search(GENUINE, by="simhash")] == ["genuine"]
    with la.open(kept) as index:
        index.compact()
        index.add([(number, f"{GENUINE} {number}") for number in range(300)])
        index.compact()
        assert index.check().ok
        assert index.search(GENUINE, by="passages", limit=None)[0].id == "genuine"
    with pytest.raises(la.InputError, match="was made with keyed=True, not False"):
        la.open(kept, keyed=False)
    with pytest.raises(la.RecipeMismatch):
        la.open(kept, recipe="words")
    with la.open(kept, collection="plain") as index:
        assert "keyed" not in index.settings
        assert index.recipe == la.Recipe()
    with pytest.raises(la.InputError, match="was made with keyed=False, not True"):
        la.open(kept, collection="plain", keyed=True)
    with pytest.raises(la.InputError, match=r"has the key of a collection.*recipe.replace\(key=None\) and keyed=True"):
        la.open(kept, collection="third", recipe=recipe)


@pytest.mark.parametrize("recipe", ["simhash-py", "datasketch", "datasketch-2", "winnow-sha1"])
def test_recipes_of_other_programs_have_no_keys(recipe: str) -> None:
    with pytest.raises(la.InputError, match="another program"):
        la.open("memory://", recipe=recipe, keyed=True)
    with pytest.raises(la.InputError, match="cannot be keyed"):
        la.recipes.get(recipe).replace(key=Key.new()) if hasattr(la, "recipes") else la.Recipe(hash="md5", key=Key.new())


@pytest.mark.parametrize("wrong", [1, "yes", 0.5, b""])
def test_other_values(wrong: Any) -> None:
    with pytest.raises(la.InputError, match="keyed"):
        la.open("memory://", keyed=wrong)
    with pytest.raises(la.InputError, match="keyed=True"):
        la.Recipe(key=wrong)


def test_a_missing_or_wrong_secret_is_told_when_it_is_needed(kept: str, tmp_path: Path) -> None:
    with la.open(kept, keyed=True) as index:
        index.add([*BOTH, *((number, f"{GENUINE} {number}") for number in range(40))])
        check = index.settings["key_check"]
    for statement, secret, said in (
        ("UPDATE SECRETS SET secret = ?", bytes(16), "is not the one that it was made with"),
        ("UPDATE SECRETS SET secret = ?", b"short", "is not the one that it was made with"),
        ("DELETE FROM SECRETS", None, "cannot be read"),
        ("DROP TABLE SECRETS", None, "cannot be read"),
    ):
        change_secrets(kept, statement, secret)
        with la.open(kept) as index:
            assert index.get("genuine").text == GENUINE
            assert len(list(index.documents())) == len(index) == 42
            assert index.settings["key_check"] == check
            calls: list[Callable[[], object]] = [
                lambda i=index: i.search(GENUINE),
                lambda i=index: i.search(GENUINE, by="simhash"),
                lambda i=index: i.search(GENUINE, by="passages"),
                lambda i=index: i.search_texts([GENUINE]),
                lambda i=index: i.add("new", "text"),
                lambda i=index: i.clusters(),
                lambda i=index: la.simhash("text", recipe=i.recipe),
            ]
            for call in calls:
                with pytest.raises(StoreError, match=rf"is keyed, and its secret {said}: .* export .* load .*--keyed") as raised:
                    call()
                assert bytes(16).hex() not in str(raised.value)
            report = index.check()
            assert not report.ok
            assert said in report.problems[0]
            assert index.search(GENUINE, by="ssdeep")[0].id == "genuine"  # made without the key
            # The remedy that the message names.
            assert index.export(tmp_path / "out.jsonl") == 42
            with la.open("memory://", keyed=True) as rescued:
                assert rescued.load(tmp_path / "out.jsonl") == 42
                assert rescued.search(GENUINE)[0].id == "genuine"
                assert rescued.check().ok


# The secret


def forms(secret: bytes) -> list[str]:
    words = [int.from_bytes(secret[at : at + 8], order) for at in (0, 8) for order in ("little", "big")]
    plain = [secret.hex(), base64.b64encode(secret).decode().rstrip("="), str(list(secret))[1:-1], repr(secret)[2:-1], "\\x" + secret.hex()]
    return [*plain, *map(str, words), *(f"{word:x}" for word in words)]


def test_the_secret_is_shown_nowhere(kept: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"id": id_, "text": text}) + "\n" for id_, text in BOTH))
    shown: list[str] = []

    def lookalike(*arguments: str, code: int = 0) -> str:
        command = [str(Path(sys.executable).with_name("lookalike")), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.returncode == code, done.stderr
        shown.append(done.stdout + done.stderr)
        return shown[-1]

    lookalike("add", kept, "in.jsonl", "--keyed")
    secret = secret_of(kept)
    assert len(secret) == 16
    assert '"keyed": true' in lookalike("stats", kept, "--json")
    lookalike("stats", kept)
    lookalike("check", kept, "--json")
    lookalike("compact", kept)
    lookalike("search", kept, "--text", GENUINE, "--json")
    lookalike("clusters", kept)
    lookalike("get", kept, "genuine", "--json")
    assert "keyed" in lookalike("search", kept, "--simhash", "7", code=2)
    lookalike("add", kept, "in.jsonl", "--recipe", "words", code=2)
    lookalike("info", "--json")
    for name in ("out.jsonl", "out.parquet"):
        lookalike("export", kept, name)
    lookalike("dedupe", "in.jsonl", "--against", kept, "--out", "clean.jsonl", "--json", "--html", "report.html")
    with la.open(kept) as index:
        key = index.recipe.key
        shown += [repr(index), repr(index.recipe), str(index.recipe.to_dict()), repr(key), str(key), f"{key}", repr(index.stats())]
        shown += [index.recipe.id, repr(vars(index)), json.dumps(index.settings), repr(la.simhash("a", recipe=index.recipe).to_dict())]
        for thing in (key, index.recipe):
            with pytest.raises(TypeError, match="not pickled"):
                pickle.dumps(thing)
        assert copy.deepcopy(index.recipe) == index.recipe
        with pytest.raises(TypeError):
            json.dumps(key)
        with pytest.raises(la.InputError, match="nowhere but in the store"):
            la.Recipe.from_dict(index.recipe.to_dict())
    written = b"".join((tmp_path / name).read_bytes() for name in ("out.jsonl", "out.parquet", "clean.jsonl", "report.html"))
    everything = "\n".join([*shown, caplog.text, written.decode("latin-1")])
    for form in forms(secret):
        assert form not in everything
    assert secret not in written
    if not kept.startswith("postgresql"):
        files = [path for path in Path(kept).rglob("*") if path.is_file() and secret in path.read_bytes()]
        assert {path.name for path in files} - {"store.sqlite-wal"} == {"store.sqlite"}  # both are the owner's alone


@pytest.mark.skipif(os.name != "posix", reason="not applicable: modes are of POSIX")
def test_only_the_owner_reads_the_database(tmp_path: Path) -> None:
    def modes(store: Path) -> set[int]:
        return {stat.S_IMODE(path.stat().st_mode) for path in store.glob("store.sqlite*")}

    before = os.umask(0o022)
    try:
        with la.open(tmp_path / "plain") as index:
            index.add(BOTH)
            assert modes(tmp_path / "plain") == {0o644}
        with la.open(tmp_path / "plain", collection="other", keyed=True) as index, la.open(tmp_path / "plain") as reader:
            index.add(BOTH)
            assert len(reader) == 2
            assert len(list((tmp_path / "plain").glob("store.sqlite*"))) == 3  # with the log, which has the secret before the database does
            assert modes(tmp_path / "plain") == {0o600}
        with la.open(tmp_path / "keyed", keyed=True) as index:
            index.add(BOTH)
            assert modes(tmp_path / "keyed") == {0o600}
            index.compact()
        assert modes(tmp_path / "keyed") == {0o600}
    finally:
        os.umask(before)


def test_a_copy_of_the_folder_is_the_same_collection(tmp_path: Path) -> None:
    with la.open(tmp_path / "one", keyed=True) as index:
        index.add(BOTH)
        made = la.simhash(GENUINE, recipe=index.recipe)
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    with la.open(tmp_path / "two") as copied:
        assert [match.id for match in copied.search(simhash=made)] == ["genuine"]
        copied.add("third", GENUINE)
        assert [match.id for match in copied.search(GENUINE, by="simhash")] == ["genuine", "third"]


def test_older_stores(tmp_path: Path) -> None:
    """They have no table of secrets, and get one with their first keyed collection."""
    with la.open(tmp_path / "old") as index:
        index.add(BOTH)
    as_first_format(tmp_path / "old")
    with la.open(tmp_path / "old", read_only=True) as index:
        assert index.search(GENUINE)[0].id == "genuine"
    with la.open(tmp_path / "old", collection="new", keyed=True) as index:
        index.add(BOTH)
        assert [match.id for match in index.search(GENUINE, by="simhash")] == ["genuine"]
    with la.open(tmp_path / "old") as index:
        assert index.recipe == la.Recipe()
        assert [match.id for match in index.search(GENUINE, by="simhash")] == ["genuine", "forged"]
        assert index.check().ok


# Exports


@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet"])
def test_exports(location: str, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with la.open(location, collection="from", keyed=True, threshold=0.7) as index:
        index.add(BOTH)
        index.export(path)
        if location != "memory://":
            assert index.load(path) == 2  # its own
        check = index.settings["key_check"]
        plain_path = tmp_path / f"plain-{name}"
    with la.open(location, collection="plain from", threshold=0.7) as plain:
        plain.add(BOTH)
        plain.export(plain_path)
    # A new collection is made like it, and keyed: with a secret of its own, and fingerprints of its own.
    for options in ({}, {"keyed": True, "threshold": 0.7}):
        with la.open(location, collection=f"to {len(options)}", **options) as copied:
            assert copied.load(path) == 2
            assert (copied.settings["keyed"], copied.settings["threshold"]) == (True, 0.7)
            assert copied.settings["key_check"] != check
            assert [match.id for match in copied.search(GENUINE, by="simhash")] == ["genuine"]
            assert copied.load(path) == 2
            assert copied.check().ok
            with pytest.raises(
                (la.RecipeMismatch, la.InputError), match=r"(not keyed, and this one is|keyed=False, not True).*refingerprint"
            ):
                copied.load(plain_path)
            assert copied.load(plain_path, refingerprint=True) == 2
            assert copied.check().ok
    if location != "memory://":
        with la.open(location, collection="to 0") as copied:  # the secret that it adopted is on the disk
            assert [match.id for match in copied.search(GENUINE, by="simhash")] == ["genuine"]
    # Keys are not dropped unasked.
    if location != "memory://":
        with la.open(location, collection="empty", keyed=True):
            pass
        with la.open(location, collection="empty") as empty, pytest.raises(la.RecipeMismatch, match="not keyed, and this one is: let all"):
            empty.load(plain_path)
    with la.open(location, collection="plain to", keyed=False) as plain:
        with pytest.raises(la.InputError, match=r"keyed=True, not False.*refingerprint"):
            plain.load(path)
        assert plain.load(path, refingerprint=True) == 2
        assert [match.id for match in plain.search(GENUINE, by="simhash")] == ["genuine", "forged"]
        assert plain.check().ok


def test_exports_without_texts_belong_to_their_key(location: str, tmp_path: Path) -> None:
    with la.open(location, collection="from", keyed=True, keep_text=False) as index:
        index.add(BOTH)
        index.export(tmp_path / "out.jsonl")
        assert index.load(tmp_path / "out.jsonl") == 2
        assert [match.id for match in index.search(GENUINE)] == ["genuine"]
    for options in ({}, {"refingerprint": True}):
        with la.open(location, collection=f"to {len(options)}") as other:
            with pytest.raises(la.InputError, match=r"different recipes.*default-keyed"):
                other.load(tmp_path / "out.jsonl", **options)
            assert len(other) == 0


# What else makes fingerprints for a collection


@pytest.mark.parametrize("method", ["minhash", "simhash"])
def test_dedupe_against(kept: str, tmp_path: Path, method: str) -> None:
    with la.open(kept, keyed=True) as index:
        index.add("genuine", GENUINE)
        recipe = index.recipe
    rows = [{"id": "forged", "text": FORGED}, {"id": "copy", "text": GENUINE.upper()}, {"id": "new", "text": "something else " * 20}]
    report = la.dedupe(rows, against=kept, method=method, add=True)
    assert [(each.id, each.kept_id) for each in report.removed] == [("copy", "genuine")]
    with la.open(kept) as index:
        assert sorted(index.ids()) == ["forged", "genuine", "new"]
        assert index.check().ok
        assert [match.id for match in index.search("something else " * 20, by="simhash")] == ["new"]
    assert len(la.dedupe(rows, against=kept, method=method, recipe=recipe).removed) == 3
    with la.open("memory://", keyed=True) as other, pytest.raises(la.RecipeMismatch, match="made with recipe"):
        la.dedupe(rows, against=kept, method=method, recipe=other.recipe)


def test_fingerprints_without_the_key_are_found_and_made_again(location: str) -> None:
    with la.open(location, keyed=True) as index:
        index.add("forged", FORGED)
        given, plain = Given(), index._store.settings.with_key(None)
        given.append(("genuine", GENUINE))
        index._store.write(fingerprinted(given, plain, plain.stored, 1))
        assert index.search(GENUINE, by="simhash", k=0) == []
        # In a database the bands tell it first: its MinHash is made of the text.
        (problem,) = index.check().problems
        assert problem in (
            "document 'genuine': its fingerprints are not those of its text",
            "bands: 1 MinHashes have no sketch, or another one",
        )
        index.check(repair=True)
        assert index.check().ok
        assert [match.id for match in index.search(GENUINE, by="simhash", k=0)] == ["genuine"]


@pytest.fixture
def roles() -> Iterator[str]:
    url = empty_database()
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("DROP ROLE IF EXISTS clerk_of_keys")
        admin.execute("CREATE ROLE clerk_of_keys LOGIN")
        yield url
        admin.execute("DROP OWNED BY clerk_of_keys; DROP ROLE clerk_of_keys")


def test_a_role_may_read_documents_without_secrets(roles: str) -> None:
    with la.open(roles, keyed=True) as index:
        index.add(BOTH)
    secret = secret_of(roles)
    with psycopg.connect(roles, autocommit=True) as owner:
        owner.execute("GRANT USAGE ON SCHEMA lookalike TO clerk_of_keys; GRANT SELECT ON ALL TABLES IN SCHEMA lookalike TO clerk_of_keys")
        owner.execute("REVOKE ALL ON lookalike.secrets FROM clerk_of_keys")
        separator = "&" if "?" in roles else "?"
        visitor = f"{roles}{separator}user=clerk_of_keys"
        with la.open(visitor, read_only=True) as index:
            assert index.get("genuine").text == GENUINE
            with pytest.raises(StoreError, match=r"this role may not read its secret; .*GRANT SELECT ON lookalike.secrets") as raised:
                index.search(GENUINE)
            assert secret.hex() not in str(raised.value)
            assert not index.check().ok
        owner.execute("GRANT SELECT ON lookalike.secrets TO clerk_of_keys")
        with la.open(visitor, read_only=True) as index:
            assert [match.id for match in index.search(GENUINE)] == ["genuine"]
            assert index.check().ok
