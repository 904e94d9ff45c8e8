"""``la.service.serve``: all of the service that can be imported without the extra ``service``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from lookalike.checks import check_bool, check_int, check_path, check_str
from lookalike.errors import InputError, MissingExtra
from lookalike.system import usable_cores


def serve(
    store: str | os.PathLike[str],
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    token_file: Path | str | None = None,
    processes: int | None = None,
    read_only: bool = False,
    fetch: bool = False,
    limits: Mapping[str, float] | None = None,
    trust: Iterable[str] = (),
    audit_log: Path | str | None = None,
    started: Callable[[str], object] = lambda address: None,
) -> None:
    """Serve a store over HTTP until the process is told to stop (SIGTERM, Ctrl-C). Everything acknowledged is on the disk then.

    ``host`` is this machine alone unless there is a ``token_file``. ``processes`` answer (as many as cores by default); of a store
    on this machine one more writes. ``limits`` are fields of ``service.limits.ServiceLimits``. A line per write goes to the file
    ``audit_log``, or to standard error. ``started`` is told the address.
    """
    try:
        from lookalike.service import serving
        from lookalike.service.app import ServiceSetup
        from lookalike.service.limits import ServiceLimits
        from lookalike.service.tokens import Tokens
    except ImportError as error:
        raise MissingExtra.for_extra("lookalike serve", "service") from error
    location = str(check_path("store", store)) if not isinstance(store, str) or "://" not in store else store
    check_int("port", port, 0, 65535)
    check_bool("read_only", read_only)
    check_bool("fetch", fetch)
    if processes is not None:
        check_int("processes", processes, 1, 256)
    wrong: list[Any] = [name for name in limits or {} if name not in ServiceLimits.__dataclass_fields__]
    if wrong:
        raise InputError(f"limits: there is no limit {wrong[0]!r:.40}: choose from {', '.join(ServiceLimits.__dataclass_fields__)}")
    tokens = None if token_file is None else check_path("token_file", token_file).resolve()
    if tokens is not None:
        Tokens.read(tokens)  # what is wrong with it is said now, and not by every process
    audit = None if audit_log is None else check_path("audit_log", audit_log).resolve()
    if audit is not None:
        try:
            audit.open("a").close()
        except OSError as error:
            raise InputError(f"audit_log: {str(audit)!r} cannot be written: {error.strerror}") from error
    local = serving.prepare(location, read_only)
    with serving.listen(check_str("host", host), port, tokens is not None) as listening:
        settings = ServiceSetup(
            location if not local else str(Path(location).resolve()),
            limits=ServiceLimits(**limits or {}),  # type: ignore[arg-type]  # it checks them
            token_file=tokens,
            fetch=fetch,
            read_only=read_only,
            local=local,
            processes=processes or max(1, min(usable_cores(), 8)),
            hosts=() if tokens else (*serving.LOCAL, host),
            trust=tuple(trust),
            audit_log=audit,
        )
        serving.serve(settings, listening, started)
