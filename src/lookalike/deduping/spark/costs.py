"""What a run on Spark takes, calculated from numbers of the corpus (docs/scale.md)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from lookalike.deduping.spark.engine import MOST_PARTITIONS

if TYPE_CHECKING:
    from lookalike.deduping.settings import Criteria

# Bytes on their way, of one document: names cost a byte or two, since they come in order as steps.
NAME = 2
DIGEST = 16 + NAME
BAND = 8 + NAME
CODE = 8 + NAME
PACKED_TEXT = 0.5  # of a text's bytes, as Spark compresses what it shuffles
# CPU microseconds of one further document of 2,000 bytes, all processes. By MinHash 28 were measured on a quiet machine (50,000 to 200,000
# documents), and 63 on a busy one (200,000 to a million); the others are estimates. benchmarks/scale.py measures it on your machine.
MICROSECONDS = {"minhash": 45.0, "simhash": 30.0, "exact": 25.0, "bytes": 25.0}
ESTIMATED_BYTES = 2000.0
DOCUMENTS_PER_PARTITION = 250_000
FEATURES = 4.0  # bytes of features for a byte of text
ON_DRIVER = 24  # bytes of a document that goes: its name, its original, and a copy of both


@dataclass(frozen=True, slots=True)
class SparkPlan:
    documents: int
    shuffled: int  # bytes
    texts: int  # of these, texts of candidates
    kept_between: int  # bytes between rounds
    tasks: int  # of a stage
    task_memory: int  # bytes of the largest task
    driver_memory: int  # bytes
    core_hours: float

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"core_hours": round(self.core_hours, 3)}


def spark_plan(settings: Criteria, documents: int, text_bytes: float, mates: float, removed: float) -> SparkPlan:
    """``text_bytes`` is that of a document; ``mates`` the share of documents that share a bucket, ``removed`` of those that go."""
    bands = settings.banding.bands
    fixed = DIGEST + bands * BAND if settings.method == "minhash" else DIGEST
    if settings.method == "simhash":
        fixed += (settings.distance + 1) * CODE
    texts = documents * mates * text_bytes * PACKED_TEXT
    tasks = min(max(-(-documents // DOCUMENTS_PER_PARTITION), 1), MOST_PARTITIONS)
    share = documents / tasks
    return SparkPlan(
        documents,
        int(documents * fixed + texts),
        int(texts),
        int(documents * fixed * 2),
        tasks,
        int(share * (bands or 1) * 48 + share * mates * text_bytes * (1 + FEATURES) + (256 << 20)),
        int(documents * removed * ON_DRIVER + (1 << 30)),
        documents * MICROSECONDS[settings.method] * (0.5 + 0.5 * text_bytes / ESTIMATED_BYTES) / 3.6e9,
    )
