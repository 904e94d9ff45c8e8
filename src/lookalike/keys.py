"""The secret of a keyed collection, and what is derived from it.

Fingerprints of recipe version 1 are made of hashes that everybody can compute, so whoever wants to writes a text with the fingerprint of
another. A recipe with a key makes them of hashes with a secret (native/base/keyed_hash.hpp). The secret stays in the store: a key shows
nothing but its *check*, a digest by which fingerprints of different keys are told apart, and it can be neither pickled nor written as JSON.
"""

from __future__ import annotations

import os
from array import array
from typing import TYPE_CHECKING, Any, NoReturn

from lookalike.errors import StoreError

if TYPE_CHECKING:
    from lookalike._native import Hashing

SECRET_BYTES = 16
_WORDS_BYTES = 7 * 8
_CHECK_BYTES = 8


class Key:
    """A secret of 128 bits. Two are equal if their checks are."""

    __slots__ = ("_missing", "_secret", "check")

    def __init__(self, secret: bytes) -> None:
        self.check = _derived(secret, b"check", _CHECK_BYTES).hex()
        self._secret: bytes | None = secret
        self._missing = ""

    @classmethod
    def new(cls) -> Key:
        return cls(os.urandom(SECRET_BYTES))

    @classmethod
    def stored(cls, check: str, secret: bytes | None, name: str) -> Key:
        """The key that a collection was made with. Without its secret documents can still be read; the first fingerprint is an error."""
        if secret is not None and len(secret) == SECRET_BYTES:
            key = cls(secret)
            if key.check == check:
                return key
        what = "cannot be read" if secret is None else "is not the one that it was made with"
        remedy = "restore the store from a copy, or export its documents and load the file into a new collection (--keyed)"
        return cls.without_secret(check, f"{name} is keyed, and its secret {what}: no fingerprint can be made; {remedy}")

    @classmethod
    def without_secret(cls, check: str, missing: str) -> Key:
        """One that tells keys apart and makes no fingerprints: ``missing`` says why."""
        key = cls.__new__(cls)
        key.check, key._secret, key._missing = check, None, missing
        return key

    @property
    def problem(self) -> str | None:
        """Why no fingerprint can be made with it."""
        return self._missing or None

    def secret(self) -> bytes:
        """For the store that keeps it, and for nobody else."""
        if self._secret is None:
            raise StoreError(self._missing)
        return self._secret

    def hashing(self, seed: int) -> Hashing:
        """How tokens and shingles are hashed with this key."""
        from lookalike import _native

        return _native.Hashing(seed, array("Q", _derived(self.secret(), b"hashes", _WORDS_BYTES)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self.check == other.check

    def __hash__(self) -> int:
        return hash(self.check)

    def __repr__(self) -> str:
        return f"<Key {self.check}>"

    def __deepcopy__(self, _: Any) -> Key:
        return self  # it never changes

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not pickled: its secret stays in the store; open the store where the key is needed")


def _derived(secret: bytes, use: bytes, size: int) -> bytes:
    """Bytes that tell nothing about the secret, and of each use nothing about those of another."""
    from hashlib import blake2b  # few have keys, and it loads OpenSSL

    return blake2b(use, key=secret, digest_size=size, person=b"lookalike-key-1").digest()
