"""What a scan found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lookalike.scanning.relations import Family, FileEntry


@dataclass(slots=True)
class ScanReport:
    """Copies, families and what could not be read, of all files of a folder."""

    folder: str
    files: int = 0  # in the folder, members of archives included
    read: int = 0
    unchanged: int = 0
    removed: int = 0  # of the store: files that are not there any more
    copies: list[list[FileEntry]] = field(default_factory=list)
    families: list[Family] = field(default_factory=list)
    skipped: list[dict[str, Any]] = field(default_factory=list)  # files without text, and why
    kinds: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    comparisons: dict[tuple[str, str], str] = field(default_factory=dict, repr=False)  # pairs of the report, as markup

    def to_dict(self) -> dict[str, Any]:
        return {
            "folder": self.folder,
            "files": self.files,
            "read": self.read,
            "unchanged": self.unchanged,
            "removed": self.removed,
            "kinds": self.kinds,
            "copies": [
                {
                    "files": [each.id for each in group],
                    "renamed": len({each.name for each in group}) > 1,
                    "bytes": group[0].bytes,
                    "sha256": group[0].sha256,
                }
                for group in self.copies
            ],
            "families": [family.to_dict() for family in self.families],
            "skipped": self.skipped,
            "seconds": self.seconds,
        }

    def to_html(self) -> str:
        """A page that shows everything: one file that needs nothing else."""
        from lookalike.scanning.html_report import page

        return page(self)
