"""``lookalike serve``: an index as an HTTP service with a web page. docs/http.md says what it answers."""

from lookalike.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, {"lookalike.service.starting": "serve"})
