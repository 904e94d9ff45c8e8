"""The frame of every report: one HTML file with everything in it, no script from elsewhere and no request to anywhere.

All text of the user goes through ``escaped`` or ``attribute``. A content security policy that names the page's own style and script
by their digests is the second lock.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from importlib import resources

from lookalike.reports.escaping import attribute, escaped
from lookalike.version import __version__


def document(title: str, body: str, *, scripted: bool = False, own_style: str = "", own_script: str = "") -> str:
    """A whole page. The script, where there is one, shows which marks belong together; a report may bring one of its own instead, and
    rules that follow the one style sheet.
    """
    style = _resource("report.css") + own_style
    script = own_script or (_resource("report.js") if scripted else "")
    scripted = bool(script)
    allowed = f" script-src {_digest(script)};" if scripted else ""
    policy = f"default-src 'none'; style-src {_digest(style)};{allowed} base-uri 'none'; form-action 'none'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n'
        f"<title>{attribute(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n{body}\n"
        f"{f'<script>{script}</script>' if scripted else ''}\n</body>\n</html>\n"
    )


def _resource(name: str) -> str:
    return resources.files("lookalike.reports").joinpath(name).read_text(encoding="utf-8")


def _digest(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def heading(title: str, lead: str = "") -> str:
    return f"<h1>{escaped(title)}</h1>" + _lead(lead)


def section(title: str, content: str, *, lead: str = "", name: str = "") -> str:
    """A part of a page, or nothing where there is nothing to show. ``lead`` is text, ``content`` is markup."""
    return f'<section class="{name}"><h2>{escaped(title)}</h2>{_lead(lead)}{content}</section>\n' if content else ""


def _lead(text: str) -> str:
    return f'<p class="soft">{escaped(text)}</p>' if text else ""


def cards(figures: Iterable[tuple[str, str]]) -> str:
    """The most important figures, each with its name."""
    return f'<div class="cards">{"".join(f"<div><b>{escaped(value)}</b>{escaped(name)}</div>" for name, value in figures)}</div>'


def footer(*facts: str) -> str:
    """By which version the page was made, and what else a reader needs to compare it with another."""
    return f"<footer>{' · '.join(escaped(fact) for fact in (f'lookalike {__version__}', *facts))}</footer>"
