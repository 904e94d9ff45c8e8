"""Who may ask for what: tokens from a file, one per line: ``TOKEN read|write [collection,…] [name]``."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from lookalike.errors import InputError

LEAST_LENGTH = 16  # characters of a token; shorter ones can be guessed


@dataclass(frozen=True, slots=True)
class Grant:
    """What a token allows. ``collections`` is empty where all are allowed."""

    name: str
    write: bool
    collections: frozenset[str] = frozenset()

    def covers(self, collection: str) -> bool:
        return not self.collections or collection in self.collections


EVERYTHING = Grant("local", True)  # without tokens: whoever reaches this machine's own address


class Tokens:
    """Tokens are kept as digests, so that none of them can be printed, and compared in constant time."""

    def __init__(self, grants: dict[bytes, Grant]) -> None:
        self._grants = grants

    @classmethod
    def read(cls, path: Path) -> Tokens:
        grants: dict[bytes, Grant] = {}
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError as error:
            raise InputError(f"the token file {str(path)!r} is no text in UTF-8: {error.reason} at byte {error.start}") from error
        except OSError as error:
            raise InputError(f"the token file {str(path)!r} cannot be read: {error.strerror}") from error
        for number, line in enumerate(lines, 1):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            if len(words) < 2 or words[1] not in ("read", "write") or len(words[0]) < LEAST_LENGTH or len(words) > 4:
                raise InputError(
                    f"line {number} of the token file {str(path)!r}: give a token of at least {LEAST_LENGTH} characters, then 'read' or "
                    "'write', then if you like the collections (a,b or *) and a name for the log"
                )
            collections = frozenset() if len(words) < 3 or words[2] == "*" else frozenset(words[2].split(","))
            name = words[3] if len(words) > 3 else f"token-{number}"
            grants[_digest(words[0])] = Grant(name, words[1] == "write", collections)
        if not grants:
            raise InputError(f"the token file {str(path)!r} has no token: write one line 'TOKEN write'")
        return cls(grants)

    def grant(self, authorization: str) -> Grant | None:
        """What the header ``Authorization`` allows; every token is compared, whichever fits."""
        scheme, _, given = authorization.partition(" ")
        digest = _digest(given.strip()) if scheme.lower() == "bearer" else b""
        found = None
        for known, grant in self._grants.items():
            if hmac.compare_digest(known, digest):
                found = grant
        return found


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()
