"""Passwords in what is shown: hidden by where they stand, not by what they are.

To look for the password itself in a message would mask every "a" where the password is "a", and so tell it. What stands between the first
``:`` behind ``//`` and the last ``@`` is hidden, whatever it is: a password with characters that should have been written otherwise is
hidden whole, and nobody has to parse what cannot be parsed.
"""

from __future__ import annotations

import re

HIDDEN = "***"
# Compiled when somebody has a message: every command starts without one.
_OPTION = r"(?i)(\b\w*(?:password|passwd|secret)\s*=\s*)('(?:[^'\\]|\\.)*'|\"[^\"]*\"|[^\s&'\"]+)"
_DATABASE = r"(?i)(\bpostgres(?:ql)?:/*[^:/@\s]*:).*@"  # to the end of the line: a password may have blanks
_URL = r"(?i)(\b[a-z][a-z0-9+.-]*://[^:/@?#\s]*:)\S*@"


def hide(message: str) -> str:
    """The message without the passwords of URLs and connection strings."""
    if "@" in message:
        message = re.sub(_URL, rf"\1{HIDDEN}@", re.sub(_DATABASE, rf"\1{HIDDEN}@", message))
    return re.sub(_OPTION, rf"\1{HIDDEN}", message) if "=" in message else message
