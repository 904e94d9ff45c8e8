from lookalike.deduping.spark.engine import Engine as Engine
from lookalike.deduping.spark.joins import fingerprint as fingerprint, hamming_join as hamming_join, search as search
from lookalike.deduping.spark.report import SparkReport as SparkReport

__all__: list[str]
