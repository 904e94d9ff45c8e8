"""``dedupe`` on Spark: the same stages as on one machine, scheduled over many; nothing else imports pyspark."""
