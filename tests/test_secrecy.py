"""What is between the first ``:`` behind ``//`` and the last ``@`` is never shown, whatever it is."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.cli import main
from lookalike.errors import InputError, LookalikeError, NotFound
from lookalike.secrecy import hide

PASSWORDS = (
    "S3cr/t",
    "pa#ss",
    "p@ss",
    "pa?ss",
    "pa ss",
    "p:ss",
    "a",
    "%zz",
    "x%00y",
    "p&q=1",
    "1234/s3cret",
    "12?user=s3cret",
    "[::1",
    "p'\"w",
)


@given(
    st.text(st.characters(exclude_characters="\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"), min_size=1),
    st.sampled_from(["postgresql", "postgres", "PostgreSQL"]),
)
def test_a_password_is_hidden_whole(password: str, scheme: str) -> None:
    assert hide(f"{scheme}://someone:{password}@host/db is not there") == f"{scheme}://someone:***@host/db is not there"


def test_what_is_no_password_stays() -> None:
    for message in (
        "http://127.0.0.1:8000/a: not found; write to a@b.c",
        "postgresql://someone@host:5432/db",
        "a = b, 12:30 @ noon",
        "user=x",
    ):
        assert hide(message) == message


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("host=h password=s3cret user=x", "host=h password=*** user=x"),
        ("host=h password = 's3 \\' cret' user=x", "host=h password = *** user=x"),
        ("postgresql:///db?sslpassword=s3cret&user=x", "postgresql:///db?sslpassword=***&user=x"),
        ("https://me:s3cr/t@host/x", "https://me:***@host/x"),
        ("postgresql:/me:s3cret@host/x", "postgresql:/me:***@host/x"),
    ],
)
def test_other_places_of_passwords(message: str, shown: str) -> None:
    assert hide(message) == shown
    assert str(LookalikeError(message)) == str(pickle.loads(pickle.dumps(NotFound(message)))) == shown


@pytest.mark.parametrize("password", PASSWORDS)
@pytest.mark.parametrize("verb", ["compare", "search", "stats", "dedupe", "fingerprint", "get"])
def test_no_verb_shows_one(verb: str, password: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """As a store that is not there, as a file that is none, and as an argument too many."""
    url = f"postgresql://zebra:{password}@{tmp_path}/q"
    more = {"compare": [url], "get": ["id"], "fingerprint": [], "search": ["--text", "t"], "dedupe": ["--out", str(tmp_path / "o.jsonl")]}
    with pytest.raises(SystemExit) as ended:
        main([verb, url, *more.get(verb, []), *([url, url] if verb == "stats" else [])])
    said = capsys.readouterr()
    assert ended.value.code not in (0, 70)
    shown = (said.out + said.err).replace(str(tmp_path), "")
    if len(password) > 1:
        assert password not in shown
    for part in ("S3cr", "s3cret", "ss@", "pa#", "pa?", "pa ss", ":ss", "zz@"):
        assert part not in shown
    assert "*" not in shown.replace("zebra:***@", "")  # a short one is not masked where it stands by chance


@pytest.mark.parametrize(
    "location",
    [
        "host=h password=s3cret dbname=x",
        " postgresql://u:s3cret@h/d",
        "postgresql:/u:s3cret@h/d",
        Path("postgresql://u:s3cret@h/d"),
        "dbname=x user=y",
    ],
)
def test_what_is_nearly_a_url_is_no_folder(location: str | Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be made, with the password in its name."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="postgresql://user@host") as caught:
        la.open(location)
    assert "s3cret" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []
