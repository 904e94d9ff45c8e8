"""distributed-curator on a folder of Parquet files, for ``scale.py --curator``. It runs in an environment of its own, outside the project:

    python -m venv ENV && ENV/bin/pip install distributed-curator==0.1.6 'pyspark<4' 'pandas<3' pyarrow setuptools
    ENV/bin/python benchmarks/curator.py FOLDER [MASTER]

Prints, as JSON, what it took (of this process, of Java and of its workers, without starting) and how many documents it removed.
"""

import json
import os
import sys
import time
from pathlib import Path

from distributed_curator import get_jar_path, partition_aware_deduplicate
from processor import tree_seconds
from pyspark.sql import SparkSession


def main() -> None:
    folder, master = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "local[2]"
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).appName("curator").config("spark.jars", get_jar_path())
    builder = builder.config("spark.ui.enabled", "false").config("spark.driver.memory", "3g").config("spark.driver.host", "127.0.0.1")
    session = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.sql.shuffle.partitions", "8").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    wall, cpu = time.perf_counter(), tree_seconds(os.getpid())
    given = session.read.parquet(*map(str, sorted(Path(folder).glob("*.parquet")))).selectExpr("cast(id as string) as doc_id", "text")
    found = partition_aware_deduplicate(spark=session, input_df=given, text_column="text", similarity_threshold=0.8, num_partitions=8)
    removed = found.filter("is_duplicate").count()
    took = {"wall": round(time.perf_counter() - wall, 2), "cpu": round(tree_seconds(os.getpid()) - cpu, 2), "removed": removed}
    print(json.dumps(took))
    session.stop()


if __name__ == "__main__":
    main()
