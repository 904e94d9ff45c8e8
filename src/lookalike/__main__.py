"""The command line as a process of its own: ``lookalike``, and ``python -m lookalike``."""

import gc

# Python looks for garbage after 700 new objects, and now and then among all. A start makes 47,000 that stay: looking took 6 of 100 ms.
_OBJECTS_BETWEEN_LOOKS = 100_000


def run() -> None:
    gc.set_threshold(_OBJECTS_BETWEEN_LOOKS)
    from lookalike.cli import program

    program()


if __name__ == "__main__":
    run()
