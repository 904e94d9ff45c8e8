"""Everything Lookalike raises on purpose.

    LookalikeError
    ├── InputError (ValueError)          the caller's text, file, array or argument
    ├── UnknownName (LookupError)        a tokenizer, recipe, measure … that nobody registered
    ├── RecipeMismatch (ValueError)      fingerprints of different recipes cannot be compared
    ├── StoreError
    │   ├── NotFound (KeyError)
    │   ├── StoreBusy
    │   └── Corrupt
    ├── EngineError
    ├── FetchError
    ├── TooManyRemoved                   a dedupe that would remove more than was allowed; nothing was written
    └── MissingExtra (ImportError)       an optional dependency, with the command that installs it

A message names the argument, the value and the remedy. ``exit_code`` and ``http_status`` are the one table
that the command line and the service read.
"""

from __future__ import annotations

from lookalike.secrecy import hide


class LookalikeError(Exception):
    """The base: catch this to catch everything above."""

    exit_code = 2
    http_status = 500

    def __init__(self, *args: object) -> None:
        # A message may name what the caller gave, and that may be a URL with a password.
        super().__init__(*(hide(each) if isinstance(each, str) else each for each in args))

    def __str__(self) -> str:
        # KeyError would print the repr of its message.
        return str(self.args[0]) if self.args else ""


class InputError(LookalikeError, ValueError):
    http_status = 422


class UnknownName(LookalikeError, LookupError):
    http_status = 422


class RecipeMismatch(LookalikeError, ValueError):
    http_status = 409


class StoreError(LookalikeError):
    exit_code = 3


class NotFound(StoreError, KeyError):
    http_status = 404


class StoreBusy(StoreError):
    exit_code = 4
    http_status = 503


class Corrupt(StoreError):
    exit_code = 5


class EngineError(LookalikeError):
    exit_code = 6


class FetchError(LookalikeError):
    exit_code = 7
    http_status = 502


class TooManyRemoved(LookalikeError):
    exit_code = 8


class MissingExtra(LookalikeError, ImportError):
    http_status = 501

    @classmethod
    def for_extra(cls, feature: str, extra: str) -> MissingExtra:
        return cls(f"{feature} needs an optional dependency: pip install 'lookalike[{extra}]'")
