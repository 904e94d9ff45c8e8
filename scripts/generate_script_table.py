"""Write src/lookalike/text/forms/script_table.txt: simplified and traditional characters that stand for each other.

    pip download --no-deps opencc-python-reimplemented==0.1.7
    python scripts/generate_script_table.py opencc_python_reimplemented-0.1.7-*.whl

The wheel carries the dictionaries of OpenCC as text (Apache License 2.0). The output is committed and never changes within version 1 of the
form ``script``: it is part of fingerprints. It has four parts:

- ``simplified``: what each traditional character is in simplified text, as OpenCC says first.
- ``simplified phrases``: phrases that OpenCC simplifies otherwise than character by character.
- ``merged``: further characters that stand for each other in some words. For comparing they become one; as text that would be wrong.
- ``merged phrases``: phrases that are still different after that, though one is the other in the other script.
"""

from __future__ import annotations

import argparse
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

TABLE = Path(__file__).parent.parent / "src" / "lookalike" / "text" / "forms" / "script_table.txt"
# Both are common in simplified text, and mean other things: phrases tell them apart.
KEPT_APART = {frozenset("画划"), frozenset("畫划"), frozenset("鍊链")}
HEADER = """\
# Simplified and traditional characters, from the dictionaries of OpenCC (https://github.com/BYVoid/OpenCC, Apache License 2.0) as
# opencc-python-reimplemented 0.1.7 carries them. Written by scripts/generate_script_table.py; version 1 never changes.
"""

Dictionary = dict[str, list[str]]


def dictionary(wheel: zipfile.ZipFile, name: str) -> Dictionary:
    lines = wheel.read(f"opencc/dictionary/{name}.txt").decode("utf-8").splitlines()
    entries = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return {key: values.split(" ") for key, values in entries}


def is_common(character: str) -> bool:
    """Whether simplified text uses it: it is in GB 2312."""
    try:
        character.encode("gb2312")
    except UnicodeEncodeError:
        return False
    return True


def pairs(dictionaries: Iterable[Dictionary]) -> Iterator[tuple[str, str]]:
    for entries in dictionaries:
        for key, values in entries.items():
            for value in values:
                if len(key) == len(value) == 1 and frozenset((key, value)) not in KEPT_APART:
                    yield key, value


def merged_characters(dictionaries: list[Dictionary], simplified: Dictionary) -> dict[str, str]:
    """Every character of a group that stand for each other, with the one that simplified text uses most."""
    group_of: dict[str, set[str]] = {}
    for one, other in pairs(dictionaries):
        together = group_of.get(one, {one}) | group_of.get(other, {other})
        group_of.update(dict.fromkeys(together, together))
    votes = Counter(values[0] for values in simplified.values())
    chosen = {}
    for character, group in sorted(group_of.items()):
        best = max(group, key=lambda each: (is_common(each), votes[each], -ord(each)))
        if best != character:
            chosen[character] = best
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("wheel", type=Path)
    with zipfile.ZipFile(parser.parse_args().wheel) as wheel:
        simplified = dictionary(wheel, "TSCharacters")
        traditional = dictionary(wheel, "STCharacters")
        variants = [dictionary(wheel, name) for name in ("TWVariantsRev", "HKVariantsRev")]
        to_simplified, to_traditional = dictionary(wheel, "TSPhrases"), dictionary(wheel, "STPhrases")
    first = {key: values[0] for key, values in simplified.items() if key != values[0]}
    merged = merged_characters([simplified, traditional, *variants], simplified)
    one_by_one, all_merged = str.maketrans(first), str.maketrans(merged)
    phrases = {
        key: values[0] for key, values in to_simplified.items() if key.translate(one_by_one) != values[0] and len(key) == len(values[0])
    }
    both = [(values[0], key) for key, values in to_traditional.items()] + [(key, values[0]) for key, values in to_simplified.items()]
    apart = {there.translate(all_merged): here.translate(all_merged) for there, here in both}
    apart = {there: here for there, here in apart.items() if there != here and len(there) == len(here)}
    parts = {
        "simplified": first,
        "simplified phrases": phrases,
        "merged": {key: merged.get(key, key) for key in {*first, *merged} if first.get(key) != merged.get(key, key)},
        "merged phrases": apart,
    }
    lines = [HEADER.rstrip("\n")]
    for name, entries in parts.items():
        lines += [f"[{name}]", " ".join(sorted(entries)), " ".join(entries[key] for key in sorted(entries))]
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
