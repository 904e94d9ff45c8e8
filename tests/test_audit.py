"""The audit of the dependencies: what it looks at, and what it takes for checked."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from datetime import UTC, datetime
from email.message import Message
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPT = Path(__file__).parent.parent / "scripts" / "audit_dependencies.py"


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    found = importlib.util.spec_from_file_location("audit_dependencies", SCRIPT)
    assert found is not None
    assert found.loader is not None
    module = sys.modules["audit_dependencies"] = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_what_dependencies_bring_along_is_audited_too(audit: ModuleType) -> None:
    assert {"markdown-it-py", "mdurl", "pygments"} <= set(audit.brought_along(["rich"]))  # mdurl is needed by markdown-it-py
    assert "rich" not in audit.brought_along(["rich"])
    assert audit.brought_along(["no-such-package"]) == []


@pytest.mark.parametrize(
    ("answer", "notes", "findings"),
    [
        ({"vulnerabilities": []}, 0, 0),
        ({}, 1, 0),  # silence is not a clean record
        ({"vulnerabilities": None}, 1, 0),
        ({"vulnerabilities": [{"id": "X-1", "summary": "bad", "fixed_in": ["2"]}]}, 0, 1),
    ],
)
def test_what_the_index_does_not_say_is_not_checked(
    audit: ModuleType, monkeypatch: pytest.MonkeyPatch, answer: dict[str, Any], notes: int, findings: int
) -> None:
    monkeypatch.setattr(audit, "asked", lambda name, version: {"info": {"version": "1"}, "releases": {}, **answer})
    report = audit.Report("some-package", "1")
    audit.audit_index(report, datetime.now(UTC))
    assert (len(report.notes), len(report.findings)) == (notes, findings)
    assert all(note.startswith("NOT CHECKED") for note in report.notes)


def test_names_that_look_like_others(audit: ModuleType) -> None:
    for name, known in (("nunpy", "numpy"), ("numpyy", "numpy"), ("nupmy", "numpy"), ("py-arrow", "pyarrow"), ("clck", "click")):
        report = audit.Report(name, None)
        audit.audit_name(report)
        assert [known in finding for finding in report.findings] == [True], name
    for name in ("numpy", "nanopq", "lookalike"):
        report = audit.Report(name, None)
        audit.audit_name(report)
        assert report.findings == [], name


def test_reasons_are_of_dependencies(audit: ModuleType) -> None:
    """What is no longer needed has no reason to be accepted."""
    declared = audit.dependencies(tomllib.loads(audit.PROJECT.read_text(encoding="utf-8")))
    used = {*declared, *audit.brought_along(declared)}
    for name in (*audit.ACCEPTED, *audit.ACCEPTED_NAMES, *audit.ACCEPTED_LICENSES):
        assert name in used or audit.installed(name) is None, name


def test_a_missing_license_needs_a_reason(audit: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit.metadata, "metadata", lambda name: Message())
    monkeypatch.setattr(audit.metadata, "files", lambda name: [])
    for name, findings in (("some-package", 2), ("gaoya", 1)):  # neither declares a home page
        report = audit.Report(name, "1")
        audit.audit_local(report)
        assert len(report.findings) == findings, name
