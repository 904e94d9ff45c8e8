"""For spark-submit: ``lookalike dedupe`` on the cluster that it is submitted to. Arguments are those of the command.

spark-submit --archives lookalike.tar.gz#lookalike submit.py 's3a://crawl/2024-10/*.parquet' --out s3a://crawl/clean
"""

import sys

from lookalike.cli import main

main(["dedupe", *sys.argv[1:], "--engine", "spark"])
