"""Which files belong together, and how: copies, other formats, near-copies, versions, families."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

EXACT, RENAMED, FORMAT, CONTENT, BYTES = "exact copy", "renamed copy", "another format", "near-copy", "near-copy by bytes"
# What a name has that says which version a file is, and nothing of what it is about.
_VERSION = re.compile(
    r"\d{4}[-_.年]?\d{1,2}[-_.月]?\d{1,2}日?|第?[一二三四五六七八九十\d]+[版稿次]|[(（\[]\s*\d+\s*[)）\]]"
    r"|(?<![a-z])(?:v|ver|version|rev|r)[\s._-]?\d+(?:\.\d+)*|(?<![a-z])(?:final|draft|copy|new|old|latest|signed|clean)(?![a-z])"
    r"|副本|终稿|定稿|初稿|草稿|修订[版稿]?|修改[版稿]?|最终[版稿]?|新版|旧版|签字版|复制|版本\d*|of(?=\s)",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file as far as its relations need it."""

    id: str
    kind: str
    sha256: str
    bytes: int
    modified: str  # what the document says, or else the file system
    mtime: int  # nanoseconds
    status: str = "ok"
    has_text: bool = True
    note: str = ""

    @property
    def name(self) -> str:
        return PurePosixPath(self.id).name

    @property
    def age(self) -> tuple[str, int, str]:
        """Oldest first."""
        return self.modified, self.mtime, self.id


@dataclass(slots=True)
class Family:
    """Files that belong together, the newest last. ``relations`` says of all but one what each is to another, mostly an older one, and how
    alike they are.
    """

    files: list[FileEntry]
    relations: dict[str, tuple[str, str, float]] = field(default_factory=dict)  # id → relation, id of the other, similarity
    versions: list[list[str]] = field(default_factory=list)  # of one document, the newest last

    def to_dict(self) -> dict[str, Any]:
        files = []
        for entry in self.files:
            shown: dict[str, Any] = {"id": entry.id, "kind": entry.kind, "bytes": entry.bytes, "modified": entry.modified}
            if entry.id in self.relations:
                relation, other, similarity = self.relations[entry.id]
                shown |= {"relation": relation, "to": other, "similarity": similarity}
            files.append(shown)
        return {"files": files, "versions": self.versions}


def copies_of(entries: Iterable[FileEntry]) -> list[list[FileEntry]]:
    """Files with the same bytes, the oldest first; of empty files nothing can be said."""
    groups: dict[str, list[FileEntry]] = {}
    for entry in entries:
        if entry.bytes:
            groups.setdefault(entry.sha256, []).append(entry)
    return sorted((sorted(group, key=lambda each: each.age) for group in groups.values() if len(group) > 1), key=lambda group: group[0].id)


def families_of(
    entries: Mapping[str, FileEntry], near: Iterable[tuple[str, str, float]], by_bytes: Iterable[tuple[str, str, float]]
) -> list[Family]:
    """Everything that is connected. ``near`` and ``by_bytes`` are pairs of ids with their similarity."""
    links: list[tuple[str, str, float, str]] = []
    for group in copies_of(entries.values()):
        links += [(group[0].id, each.id, 1.0, EXACT if each.name == group[0].name else RENAMED) for each in group[1:]]
    for first, second, similarity in near:
        if entries[first].sha256 != entries[second].sha256:
            links.append((first, second, similarity, CONTENT if entries[first].kind == entries[second].kind else FORMAT))
    links += [
        (first, second, similarity, BYTES) for first, second, similarity in by_bytes if entries[first].sha256 != entries[second].sha256
    ]
    parent: dict[str, str] = {}

    def root(id_: str) -> str:
        while parent.setdefault(id_, id_) != id_:
            parent[id_] = parent[parent[id_]]
            id_ = parent[id_]
        return id_

    for first, second, _, _ in links:
        parent[root(second)] = root(first)
    members: dict[str, list[FileEntry]] = {}
    for id_ in parent:
        members.setdefault(root(id_), []).append(entries[id_])
    related: dict[str, dict[str, tuple[str, str, float]]] = {}
    nearest: dict[str, tuple[str, str, float]] = {}  # newer ones
    for first, second, similarity, relation in links:
        older, newer = sorted((entries[first], entries[second]), key=lambda each: each.age)
        known = related.setdefault(root(first), {})
        # Exact copies come first in the list, then content, then bytes: the first is what is said of a file. Where something is said of the
        # newer one already, the older one is said to be like what it is most like: otherwise it would stand in the family without a reason.
        best = nearest.setdefault(older.id, (relation, newer.id, similarity))
        if newer.id not in known:
            known[newer.id] = relation, older.id, similarity
        else:
            known.setdefault(older.id, best)
    found = []
    for name, files in members.items():
        files.sort(key=lambda each: each.age)
        family = Family(files, related.get(name, {}), versions_of(files))
        found.append(family)
    return sorted(found, key=lambda family: (-len(family.files), family.files[0].id))


def versions_of(files: Sequence[FileEntry]) -> list[list[str]]:
    """Files of a family whose names differ in what tells versions apart: each content once, the newest last."""
    groups: dict[tuple[str, str], dict[str, str]] = {}
    for entry in files:
        groups.setdefault((bare_name(entry.name), entry.kind), {}).setdefault(entry.sha256, entry.id)
    return [list(group.values()) for group in groups.values() if len(group) > 1]


def bare_name(name: str) -> str:
    """``合同_v2(1).docx`` and ``合同 终稿.docx`` are both 合同."""
    stem = unicodedata.normalize("NFKC", name).rpartition(".")[0] or name
    return _BETWEEN.sub("", _VERSION.sub(" ", stem.lower()))
