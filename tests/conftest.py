"""What every test run shares: a header that says what runs, hypothesis profiles, and no silent skips in CI."""

from __future__ import annotations

import os
import re
import sys

import pytest
from hypothesis import HealthCheck, settings

# Every run tries other examples, so few are enough each time. After a change of a kernel: pytest --hypothesis-profile=thorough
settings.register_profile("default", max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", settings.get_profile("default"), max_examples=1000)
settings.load_profile("default")

# What may be skipped in CI, with the reason why it cannot run there. Every other skip is a failure where CI=true.
ALLOWED_SKIPS = (
    r"ltp",  # needs torch and a model that no package registry carries
    r"pydeep2",  # has no wheel for this Python; the reference stands in
    r"not applicable",
)

_unexpected: list[str] = []


def pytest_report_header() -> str:
    from lookalike import _native

    return f"lookalike: kernels {_native.cpu_level()}, Python {sys.version.split()[0]}, CI={os.environ.get('CI', '')}"


def pytest_configure(config: pytest.Config) -> None:
    """Tests of a group share a service or a Spark: where groups are lost, every worker starts its own, and nobody is told."""
    if pytest.version_tuple >= (9, 2) and config.getoption("dist", "no") == "loadgroup":
        raise pytest.UsageError("pytest-xdist 3.8 does not see groups of tests in pytest 9.2: pip install 'pytest<9.2'")


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Long values are named by their length: a name of 100,000 characters goes from worker to worker and into every log."""
    return f"{argname}-of-{len(val)}" if isinstance(val, str | bytes) and len(val) > 200 else None


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if os.environ.get("CI") != "true" or not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if not any(re.search(allowed, reason, re.IGNORECASE) for allowed in ALLOWED_SKIPS):
        _unexpected.append(f"{report.nodeid}: {reason}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in _unexpected:
        terminalreporter.write_line(f"skipped where nothing may be skipped: {line}", red=True)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if _unexpected and not hasattr(session.config, "workerinput"):
        session.exitstatus = 1
