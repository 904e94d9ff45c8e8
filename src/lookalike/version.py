"""The version, as a constant: asking the installed metadata costs 30 ms."""

__version__ = "0.1.0"
