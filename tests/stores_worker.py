"""A process that writes to a store until it is killed, and says on standard output what was acknowledged."""

import sys

import lookalike as la


def main(path: str, start: int) -> None:
    number = start
    with la.open(path) as index:
        print("ready", flush=True)
        while True:
            batch = [
                (f"d{n}", f"document {n} has words {n * 7919 % 1000} {n * 104729 % 1000} and more of the same kind {n}")
                for n in range(number, number + 40)
            ]
            index.add(batch)
            print(f"added {number} {number + 40}", flush=True)
            gone = [f"d{n}" for n in range(number, number + 40, 8)]
            index.remove(gone)
            print(f"removed {number} {number + 40}", flush=True)
            number += 40


if __name__ == "__main__":
    # Segments are sealed every few hundred documents, so that a kill hits sealing and merging too.
    from lookalike.stores import embedded, sealing

    sealing.SEAL_ROWS = embedded.SEAL_ROWS = 200
    main(sys.argv[1], int(sys.argv[2]))
