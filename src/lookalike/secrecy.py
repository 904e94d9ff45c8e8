"""Passwords in what is shown: hidden by where they stand, not by what they are.

To look for the password itself in a message would mask every "a" where the password is "a", and so tell it. What stands between the first
``:`` behind ``//`` and the last ``@`` is hidden, whatever it is: a password with characters that should have been written otherwise is
hidden whole, and nobody has to parse what cannot be parsed.
"""

from __future__ import annotations

import re

HIDDEN = "***"
_OPTION = re.compile(r"(?i)(\b\w*(?:password|passwd|secret)\s*=\s*)('(?:[^'\\]|\\.)*'|\"[^\"]*\"|[^\s&'\"]+)")
_DATABASE = re.compile(r"(?i)(\bpostgres(?:ql)?:/*[^:/@\s]*:).*@")  # to the end of the line: a password may have blanks
_URL = re.compile(r"(?i)(\b[a-z][a-z0-9+.-]*://[^:/@?#\s]*:)\S*@")


def hide(message: str) -> str:
    """The message without the passwords of URLs and connection strings."""
    if "@" in message:
        message = _URL.sub(rf"\1{HIDDEN}@", _DATABASE.sub(rf"\1{HIDDEN}@", message))
    return _OPTION.sub(rf"\1{HIDDEN}", message) if "=" in message else message
