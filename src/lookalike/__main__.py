"""``python -m lookalike``: the command line."""

from lookalike.cli import program

program()
