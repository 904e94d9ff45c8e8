"""The page: files of this package, nothing else, with rules that keep a stored text from becoming a script."""

from __future__ import annotations

import zlib
from functools import cache
from hashlib import blake2b
from importlib.resources import files

from lookalike.service.exchange import Answer, BadRequest, Call

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_SAFETY = {
    "content-security-policy": POLICY,
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
}


@cache
def _files() -> dict[str, tuple[bytes, bytes, str, str]]:
    """Every file with its packed form, kind and ETag; read once."""
    found = {}
    for each in files("lookalike.service").joinpath("static").iterdir():
        suffix = each.name[each.name.rfind(".") :]
        if suffix in KINDS:
            data = each.read_bytes()
            packing = zlib.compressobj(9, zlib.DEFLATED, 31)
            packed = packing.compress(data) + packing.flush()
            found[f"/{each.name}"] = (data, packed, KINDS[suffix], f'"{blake2b(data, digest_size=9).hexdigest()}"')
    for path, name in {"/": "/index.html", "/docs": "/docs.html"}.items():
        if name in found:
            found[path] = found[name]
    return found


def static_answer(call: Call) -> Answer:
    found = _files().get(call.path)
    if found is None:
        raise BadRequest(404, f"there is nothing at {call.path[:80]}", "see /docs for what is answered")
    if call.method not in ("GET", "HEAD"):
        raise BadRequest(405, f"{call.method} {call.path} is not answered", "use GET")
    data, packed, kind, tag = found
    headers = _SAFETY | {"etag": tag, "cache-control": "no-cache"}
    if call.headers.get("if-none-match") == tag:
        return Answer(status=304, headers=headers)
    if "gzip" in call.headers.get("accept-encoding", ""):
        return Answer(packed, kind=kind, headers=headers | {"content-encoding": "gzip", "vary": "accept-encoding"})
    return Answer(data, kind=kind, headers=headers)
